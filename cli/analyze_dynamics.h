// lrnn analyze: the eigenvalues a model uses and how far apart it keeps the states of its task.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lrnn::cli {

struct AnalyzeDynamicsOptions {
  std::string model;  // a run or a model directory
  std::string task;   // "": what it was trained for
  std::vector<std::string> parameters;
  std::string lengths;
  int64_t sequences;   // for the eigenvalues
  int64_t max_length;  // for the separation of states; 0: eight times the longest training length, at least 1024
  bool spectrum_only;
  bool json;
};

// Prints both, and for a run on its own task writes spectrum.json and analysis.json.
void AnalyzeDynamics(const AnalyzeDynamicsOptions& options);

}  // namespace lrnn::cli
