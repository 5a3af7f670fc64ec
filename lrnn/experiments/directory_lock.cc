#include "lrnn/experiments/directory_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "lrnn/base/error.h"

namespace lrnn {

DirectoryLock::DirectoryLock(const std::filesystem::path& directory) {
  const std::filesystem::path path = directory / "lock";
  file_ = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (file_ < 0) throw Failure(fmt::format("{}: {}", path.string(), std::strerror(errno)));
  if (flock(file_, LOCK_EX | LOCK_NB) != 0) {
    close(file_);
    Fail("{}: another lrnn reproduce is at work here", directory.string());
  }
}

DirectoryLock::~DirectoryLock() { close(file_); }

}  // namespace lrnn
