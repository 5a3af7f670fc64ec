// What was proved of a compiled network, and how.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lrnn {

struct Certificate {
  std::string name;     // "C1 local", "C2 arithmetic", "C3 float"
  std::string checked;  // what was checked, with numbers
  int64_t nodes = 0;    // how many single checks
  bool holds = false;
  bool needs_local = false;          // it says something of the automaton only together with C1
  std::vector<std::string> formats;  // the float formats it holds for: bf16, fp16, fp32, fp64
  std::string verdict;               // what follows, or the first thing that is wrong
};

}  // namespace lrnn
