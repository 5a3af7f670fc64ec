// The one number of a run that a table shows, from its eval.json.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace lrnn {

struct RunScore {
  double value;
  double low;  // 95 % interval
  double high;
  int64_t sequences;
};

// `score` is "scaled_accuracy" or "sequence_accuracy", of the evaluation over these lengths. An Error names the file
// and the field when it is not there.
RunScore ReadScore(const std::filesystem::path& run, const std::string& score, int64_t shortest, int64_t longest);

}  // namespace lrnn
