// lrnn analyze --automaton and --snap.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lrnn::cli {

struct AnalyzeAutomatonOptions {
  std::string model;                    // a run or a model directory
  std::string task;                     // "": what it was trained for
  std::vector<std::string> parameters;  // of the task, PARAMETER=VALUE
  std::string lengths;
  int64_t words;
  std::string out;  // of --snap
  bool json;
};

// The automaton that a model has learned: printed, and for a run written to automaton.json, .dfa and .dot.
void AnalyzeAutomaton(const AnalyzeAutomatonOptions& options);

// The model with exact transitions where they keep its answers, written to `out` and certified.
void SnapModel(const AnalyzeAutomatonOptions& options);

}  // namespace lrnn::cli
