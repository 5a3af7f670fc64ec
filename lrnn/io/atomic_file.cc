#include "lrnn/io/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>

#include "lrnn/base/error.h"

namespace lrnn {
namespace fs = std::filesystem;
namespace {

std::string Reason(int error) { return std::generic_category().message(error); }

[[noreturn]] void FailSystem(const fs::path& path, std::string_view action, int error = errno) {
  throw Failure(fmt::format("{}: cannot {}: {}", path.string(), action, Reason(error)));
}

// Closes a file descriptor at the end of a scope.
class Descriptor {
 public:
  explicit Descriptor(int value) : value_(value) {}
  ~Descriptor() {
    if (value_ >= 0) close(value_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int value() const { return value_; }

 private:
  int value_;
};

fs::path WithoutTrailingSlash(fs::path path) { return path.has_filename() ? path : path.parent_path(); }

fs::path Parent(const fs::path& path) { return path.has_parent_path() ? path.parent_path() : fs::path("."); }

// A name that no other call of this process returns; create what it names exclusively, another host may share the disk.
fs::path TemporaryBeside(const fs::path& path) {
  static std::atomic<unsigned> count = 0;
  return Parent(path) / fmt::format(".{}.tmp-{}-{}", path.filename().string(), getpid(), count++);
}

void SyncFile(const fs::path& path) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.value() < 0 || fsync(file.value()) != 0) FailSystem(path, "sync");
}

void SyncTree(const fs::path& directory) {
  for (const fs::directory_entry& entry : fs::directory_iterator(directory)) {
    if (entry.is_symlink()) continue;
    if (entry.is_directory()) {
      SyncTree(entry.path());
    } else {
      SyncFile(entry.path());
    }
  }
  SyncDirectory(directory);
}

}  // namespace

std::string ReadFile(const fs::path& path) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  LRNN_CHECK(file.value() >= 0, "{}: cannot open: {}", path.string(), Reason(errno));
  std::string bytes;
  struct stat status;
  if (fstat(file.value(), &status) == 0 && S_ISREG(status.st_mode)) bytes.reserve(status.st_size);
  char buffer[1 << 16];
  while (true) {
    const ssize_t count = read(file.value(), buffer, sizeof buffer);
    if (count == 0) return bytes;
    if (count > 0) {
      bytes.append(buffer, count);
    } else {
      LRNN_CHECK(errno != EISDIR, "{}: cannot read: {}", path.string(), Reason(errno));
      if (errno != EINTR) FailSystem(path, "read");
    }
  }
}

AtomicFile::AtomicFile(fs::path path) : path_(std::move(path)) {
  do {
    temporary_ = TemporaryBeside(path_);
    file_ = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  } while (file_ < 0 && errno == EEXIST);
  if (file_ < 0) FailSystem(path_, "create");
}

AtomicFile::~AtomicFile() {
  if (file_ >= 0) close(file_);
  if (!committed_) unlink(temporary_.c_str());
}

void AtomicFile::Write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = write(file_, bytes.data(), bytes.size());
    if (count >= 0) {
      bytes.remove_prefix(count);
    } else if (errno != EINTR) {
      FailSystem(path_, "write");
    }
  }
}

void AtomicFile::Commit() {
  if (fsync(file_) != 0) FailSystem(path_, "sync");
  // Some file systems report a full disk only here.
  if (close(std::exchange(file_, -1)) != 0) FailSystem(path_, "write");
  if (rename(temporary_.c_str(), path_.c_str()) != 0) FailSystem(path_, "replace");
  committed_ = true;
  SyncDirectory(Parent(path_));
}

void WriteFileAtomically(const fs::path& path, std::string_view bytes) {
  AtomicFile file(path);
  file.Write(bytes);
  file.Commit();
}

AtomicDirectory::AtomicDirectory(fs::path target) : target_(WithoutTrailingSlash(std::move(target))) {
  int result;
  do {
    temporary_ = TemporaryBeside(target_);
    result = mkdir(temporary_.c_str(), 0777);
  } while (result != 0 && errno == EEXIST);
  if (result != 0) FailSystem(target_, "create");
}

AtomicDirectory::~AtomicDirectory() {
  std::error_code ignored;
  fs::remove_all(temporary_, ignored);  // the new version without Commit, the old one after it
}

void AtomicDirectory::Commit() {
  SyncTree(temporary_);
  if (fs::is_directory(target_)) {
    if (renameat2(AT_FDCWD, temporary_.c_str(), AT_FDCWD, target_.c_str(), RENAME_EXCHANGE) != 0) {
      // A file system that cannot exchange: for a moment there is no target.
      const fs::path old = TemporaryBeside(target_);
      if (rename(target_.c_str(), old.c_str()) != 0) FailSystem(target_, "replace");
      if (rename(temporary_.c_str(), target_.c_str()) != 0) FailSystem(target_, "create");
      temporary_ = old;
    }
  } else if (rename(temporary_.c_str(), target_.c_str()) != 0) {
    FailSystem(target_, "create");
  }
  SyncDirectory(Parent(target_));
}

void RemoveDirectoryAtomically(const fs::path& path) {
  const fs::path directory = WithoutTrailingSlash(path);
  const fs::path temporary = TemporaryBeside(directory);
  if (rename(directory.c_str(), temporary.c_str()) != 0) FailSystem(path, "remove");
  std::error_code error;
  fs::remove_all(temporary, error);
  if (error) FailSystem(path, "remove", error.value());
}

bool IsTemporaryName(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.starts_with('.') && name.find(".tmp-") != std::string::npos;
}

void SyncDirectory(const fs::path& path) {
  const Descriptor directory(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory.value() < 0) FailSystem(path, "open");
  // EINVAL: a file system that has no such notion.
  if (fsync(directory.value()) != 0 && errno != EINVAL) FailSystem(path, "sync");
}

}  // namespace lrnn
