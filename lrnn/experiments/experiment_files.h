// Where experiments, configurations and the paper's numbers are read from: those inside the program, or a directory
// with the same layout (configs/paper/..., configs/beyond/..., data/paper/...).
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lrnn {

// "configs/paper/table3.toml" -> its text, as the program was built with it.
const std::map<std::string, std::string_view>& EmbeddedFiles();

class ExperimentFiles {
 public:
  // Without a directory: the embedded files.
  explicit ExperimentFiles(std::optional<std::filesystem::path> directory = {});

  // An Error names the file when it is missing.
  std::string Read(const std::string& name) const;

  // What errors call the file: its path, or its name among the embedded ones.
  std::string Place(const std::string& name) const;

  // The names of the files directly in a folder that end in .toml, sorted, without the ending.
  std::vector<std::string> TomlNames(const std::string& folder) const;

 private:
  std::optional<std::filesystem::path> directory_;
};

}  // namespace lrnn
