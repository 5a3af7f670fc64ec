// C3: the network and the automaton side by side, over the bits of the network's state.
//
// Breadth-first search over pairs (bits of the layers' states, what they should mean), every letter from every pair,
// with the stepper that runs the model. If no pair disagrees and the search closes, the network is right for words of
// every length on this very kernel and number format: there is no other state that it could get into.
//
// First all layers together, against the automaton; this makes no use of how the network was made. When that has more
// than `max_nodes` pairs, level by level: under every sequence of its actions a level holds the label that the tables
// say and reads the label before right; with C1, which proves the tables, the same follows. The content of a permuted
// slot has too many permutations to visit, but a swap sees two of its places: every two numbers in every two places
// that are swapped are tried instead, and the slot beside it by itself.
#pragma once

#include <cstdint>

#include "lrnn/compile/certificate.h"
#include "lrnn/runtime/automaton_network.h"

namespace lrnn {

struct FloatSearchLimits {
  int64_t max_nodes = 50'000;           // of all layers together
  int64_t max_level_nodes = 4'000'000;  // of one level
};

// Number: float, double or Bf16. When no search closes the certificate does not hold, and the verdict says up to which
// length words are right.
template <typename Number>
Certificate CertifyFloat(const AutomatonNetwork& network, const FloatSearchLimits& limits);

}  // namespace lrnn
