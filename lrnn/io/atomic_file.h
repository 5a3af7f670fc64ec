// Files and directories that are either the old version or the whole new one, also after a crash or a power cut.
//
// A new version is written beside its place under a temporary name, synced to the disk and renamed over the old one;
// then the directory is synced. Whoever reads meanwhile sees the old version. What cannot be written is a Failure that
// names the path and the system's reason; the temporary file is then removed.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace lrnn {

// The whole file as bytes; an Error names the path when it is missing or cannot be opened.
std::string ReadFile(const std::filesystem::path& path);

// Replaces (or creates) the file `path`. Parts may be written one after the other:
//
//   AtomicFile file(path);
//   file.Write(header);
//   file.Write(data);
//   file.Commit();        // without it the destructor throws the new version away
class AtomicFile {
 public:
  explicit AtomicFile(std::filesystem::path path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void Write(std::string_view bytes);
  void Commit();

 private:
  std::filesystem::path path_;
  std::filesystem::path temporary_;
  int file_ = -1;
  bool committed_ = false;
};

void WriteFileAtomically(const std::filesystem::path& path, std::string_view bytes);

// The same for a directory: fill `path()` with files and directories, then Commit puts it in the place of `target`.
// A directory that was there before is exchanged for the new one and removed.
class AtomicDirectory {
 public:
  explicit AtomicDirectory(std::filesystem::path target);
  ~AtomicDirectory();
  AtomicDirectory(const AtomicDirectory&) = delete;
  AtomicDirectory& operator=(const AtomicDirectory&) = delete;

  const std::filesystem::path& path() const { return temporary_; }
  void Commit();

 private:
  std::filesystem::path target_;
  std::filesystem::path temporary_;
};

// Removes a directory so that a crash on the way leaves either all of it or only temporary names.
void RemoveDirectoryAtomically(const std::filesystem::path& path);

// True for the names this file gives to what is not finished: a crash may leave them behind.
bool IsTemporaryName(const std::filesystem::path& path);

// Makes the names in a directory durable (a rename is only on the disk after this).
void SyncDirectory(const std::filesystem::path& path);

}  // namespace lrnn
