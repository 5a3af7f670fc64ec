#include "lrnn/experiments/run_progress.h"

#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

namespace lrnn {
namespace {

// The lines within the last 4 KiB; the first of them may be a part.
std::vector<std::string> LastLines(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) return {};
  const std::streamoff size = file.tellg();
  file.seekg(std::max<std::streamoff>(0, size - 4096));
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

}  // namespace

RunProgress ReadRunProgress(const std::filesystem::path& metrics) {
  const std::vector<std::string> lines = LastLines(metrics);
  for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
    const nlohmann::json object = nlohmann::json::parse(*line, nullptr, false);
    if (!object.is_object() || object.value("kind", "") != "train") continue;  // a torn line is no object
    RunProgress progress;
    progress.step = object.value("step", int64_t{0});
    progress.seconds = object.value("seconds", 0.0);
    const auto loss = object.find("loss");
    progress.loss =
        loss != object.end() && loss->is_number() ? loss->get<double>() : std::numeric_limits<double>::quiet_NaN();
    return progress;
  }
  return {};
}

std::string LastLine(const std::filesystem::path& log) {
  const std::vector<std::string> lines = LastLines(log);
  for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
    if (line->find_first_not_of(" \t\r") != std::string::npos) return *line;
  }
  return "";
}

}  // namespace lrnn
