// One process to a directory.
#pragma once

#include <filesystem>

namespace lrnn {

// Holds the directory until the end of the scope or of the process, however it ends. An Error when another process
// holds it.
class DirectoryLock {
 public:
  explicit DirectoryLock(const std::filesystem::path& directory);
  ~DirectoryLock();
  DirectoryLock(const DirectoryLock&) = delete;
  DirectoryLock& operator=(const DirectoryLock&) = delete;

 private:
  int file_;
};

}  // namespace lrnn
