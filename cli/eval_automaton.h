// lrnn eval on a compiled automaton.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace lrnn::cli {

struct EvalAutomatonOptions {
  std::filesystem::path path;
  std::string task;                     // "": the automaton's own language, the state after every letter
  std::vector<std::string> parameters;  // of the task: PARAMETER=VALUE
  std::string lengths;                  // "": 40:256
  int64_t sequences = 8192;
  uint64_t seed = 0;
  bool json = false;
};

// Prints the share of right answers. A task's symbols are matched with the letters by name; its answers must be those
// of an automaton: <accept> and <reject>, 1 and 0 for the same, or states <q0>, <q1>, ...
void EvalAutomaton(const EvalAutomatonOptions& options);

}  // namespace lrnn::cli
