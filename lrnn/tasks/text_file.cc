#include "lrnn/tasks/text_file.h"

#include <filesystem>
#include <fstream>
#include <sstream>

#include "lrnn/base/error.h"

namespace lrnn {

std::string ReadTextFile(const std::string& path) {
  LRNN_CHECK(std::filesystem::exists(path), "{}: no such file", path);
  LRNN_CHECK(!std::filesystem::is_directory(path), "{}: expected a file, got a directory", path);
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  LRNN_CHECK(file && text << file.rdbuf(), "{}: cannot be read, or is empty", path);
  return text.str();
}

}  // namespace lrnn
