// Compiles a finite automaton into a linear RNN with the same states, exactly and for words of every length.
//
//   const Compiled compiled = Compile(FromRegex("(ab)*"), {});
//   const auto stepper = MakeStepper<float>(compiled.network);
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lrnn/automata/dfa.h"
#include "lrnn/compile/group_representation.h"
#include "lrnn/runtime/automaton_network.h"

namespace lrnn {

enum class CompileMode {
  kAuto,   // a group by its cheapest representation; else the cheaper of relax and sub; jit when both are too large
  kRelax,  // the chain systems of lrnn/compile/chain_system.h
  kSub,
  kHeight,
  kGroup,  // one layer that permutes points; every letter must permute the states
  kJit,    // no tables: any number of states, slower
};

struct CompileOptions {
  CompileMode mode = CompileMode::kAuto;
  KeyStyle keys = KeyStyle::kExact;
  bool joint = false;                // levels with permutations and resets as one wide layer instead of two
  bool negative_eigenvalues = true;  // false: all eigenvalues in [0, 1]; only aperiodic (star-free) automata
  GroupCost group_cost = GroupCost::kReflections;
  bool rotations = false;     // a cyclic group as rotations of a plane: 2 factors a letter, but rounded
  int64_t max_sets = 20'000;  // limits of the tables
  int64_t max_cases = 300'000;
  int64_t max_group = 4'000;
};

struct Compiled {
  AutomatonNetwork network;
  std::vector<std::string> notes;  // what a user should know: which mode took over, and why
};

std::string_view Name(CompileMode mode);
CompileMode ParseCompileMode(std::string_view name);  // an Error lists the names
KeyStyle ParseKeyStyle(std::string_view name);

// sum over layers of 1 + n_h: what modes are compared by.
int64_t Cost(const AutomatonNetwork& network);

// Throws Error when the options cannot be met: eigenvalues in [0, 1] for an automaton that is not aperiodic (the
// message names a word that moves states in a cycle), mode group for letters that are no permutations; Failure when a
// chosen mode needs more than the limits allow.
Compiled Compile(const Dfa& dfa, const CompileOptions& options);

}  // namespace lrnn
