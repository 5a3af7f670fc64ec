#include "lrnn/experiments/experiment_files.h"

#include <algorithm>

#include "lrnn/base/error.h"
#include "lrnn/io/atomic_file.h"

namespace lrnn {

ExperimentFiles::ExperimentFiles(std::optional<std::filesystem::path> directory) : directory_(std::move(directory)) {
  LRNN_CHECK(!directory_ || std::filesystem::is_directory(*directory_ / "configs"),
             "{}: expected a directory that holds configs/", directory_->string());
}

std::string ExperimentFiles::Read(const std::string& name) const {
  if (directory_) return ReadFile(*directory_ / name);
  const auto file = EmbeddedFiles().find(name);
  LRNN_CHECK(file != EmbeddedFiles().end(), "{}: no such file in the program", name);
  return std::string(file->second);
}

std::string ExperimentFiles::Place(const std::string& name) const {
  return directory_ ? (*directory_ / name).string() : name;
}

std::vector<std::string> ExperimentFiles::TomlNames(const std::string& folder) const {
  std::vector<std::string> names;
  const auto add = [&](const std::filesystem::path& path) {
    if (path.parent_path() == folder && path.extension() == ".toml") names.push_back(path.stem().string());
  };
  if (!directory_) {
    for (const auto& [name, text] : EmbeddedFiles()) add(name);
  } else if (std::filesystem::is_directory(*directory_ / folder)) {
    for (const auto& entry : std::filesystem::directory_iterator(*directory_ / folder)) {
      add(std::filesystem::path(folder) / entry.path().filename());
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace lrnn
