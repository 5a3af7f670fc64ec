#include "cli/arguments.h"

#include <charconv>

#include "lrnn/base/error.h"
#include "lrnn/io/run_directory.h"

namespace lrnn::cli {

Lengths ParseLengths(const std::string& text) {
  const auto parse = [&](std::string_view part) {
    int64_t value = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
    LRNN_CHECK(error == std::errc() && end == part.data() + part.size() && value > 0,
               "--lengths: expected SHORTEST:LONGEST or one length, got \"{}\"", text);
    return value;
  };
  const size_t colon = text.find(':');
  const Lengths lengths = colon == std::string::npos ? Lengths{parse(text), parse(text)}
                                                     : Lengths{parse(std::string_view(text).substr(0, colon)),
                                                               parse(std::string_view(text).substr(colon + 1))};
  LRNN_CHECK(lengths.min <= lengths.max, "--lengths: expected SHORTEST:LONGEST, got \"{}\"", text);
  return lengths;
}

nlohmann::json ParseTaskParameters(const TaskInfo& task, const std::vector<std::string>& assignments) {
  nlohmann::json parameters = nlohmann::json::object();
  for (const std::string& assignment : assignments) {
    const size_t equals = assignment.find('=');
    LRNN_CHECK(equals != std::string::npos, "--set: expected PARAMETER=VALUE, got \"{}\"", assignment);
    const std::string name = assignment.substr(0, equals);
    parameters[name] = task.Parse(name, assignment.substr(equals + 1));
  }
  return parameters;
}

std::filesystem::path ModelPath(const std::filesystem::path& run_or_model) {
  if (RunDirectory::IsRun(run_or_model)) return RunDirectory::Open(run_or_model).LatestCheckpoint().path;
  return run_or_model;
}

}  // namespace lrnn::cli
