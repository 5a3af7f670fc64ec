// A cascade without tables, for automata whose tables would be too large. Works for every automaton of n states.
//
// A state q is a chain of sets of n, n-1, ..., 1 states, the last being {q}; level i = n-1 .. 1 holds the rank of the
// state that is missing from the next set. A letter s acts on the sets P (of the chain before) and N (after), at first
// all states:
//
//   level i:   |P s| = i+1:  permutation  r -> rank in N of s(P[r])
//              else          reset to the smallest rank in N of a state that is not in P s
//              P <- P without the label before,  N <- N without the label after
//
// O(n^2) a token. States are ranked with the start state last, which makes all labels 0 before the first token. Level i
// is a `permuted_slot` with delay of i+1 labels, level 1 a `sign` (lrnn/runtime/automaton_network.h).
#pragma once

#include <memory>

#include "lrnn/runtime/automaton_stepper.h"

namespace lrnn {

template <typename Number>
std::unique_ptr<AutomatonStepper<Number>> MakeJitStepper(const AutomatonNetwork& network);

}  // namespace lrnn
