// Random automata, compiled in every mode that suits them, proved, and run beside the automaton: the compiler's trial.
//
// Automaton `index` of the series `seed` is always the same, so that a failure can be looked at again.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lrnn/automata/dfa.h"
#include "lrnn/compile/compiler.h"

namespace lrnn {

struct FuzzLimits {
  int max_states = 8;
  int max_letters = 4;
  int words = 4;  // per network and number format
  int max_length = 500;
  int64_t max_group = 1'000;  // elements: larger groups are compiled as cascades only
};

// Half of them uniform; the others made of permutations, of permutations and maps onto few states, or of maps that keep
// the order of the states, which makes them aperiodic.
Dfa FuzzDfa(const FuzzLimits& limits, uint64_t seed, uint64_t index);

// One automaton in one mode. Keys and the form of the levels are drawn.
struct FuzzTrial {
  std::string mode;  // the mode that was asked for, "height [0,1]" or "rotation"
  CompileOptions options;
  bool is_exact = false;  // no rounding is allowed: every certificate must hold, in fp32 and bf16
  bool is_proved = false;
  int64_t words = 0;
  int64_t tokens = 0;
  std::string problem;  // what went wrong, "" for nothing
};

// auto, relax, sub, height and jit; group and rotation, and height with eigenvalues in [0, 1], where they can be had.
std::vector<FuzzTrial> FuzzTrials(const Dfa& dfa, const FuzzLimits& limits, uint64_t seed, uint64_t index);

// Compiles, proves and runs; fills in the rest of the trial. Networks that round (keys `unit`, rotations) are run in
// fp32 alone.
void RunFuzzTrial(const Dfa& dfa, const FuzzLimits& limits, uint64_t seed, uint64_t index, FuzzTrial& trial);

// The part of RunFuzzTrial after compiling.
void CheckFuzzNetwork(const AutomatonNetwork& network, const FuzzLimits& limits, uint64_t seed, uint64_t index,
                      FuzzTrial& trial);

// A transition table (lrnn/automata/table.h) whose comments say what failed and how to see it again.
std::string FuzzReport(const Dfa& dfa, uint64_t seed, uint64_t index, const FuzzTrial& trial);

}  // namespace lrnn
