// Levels of a cascade as DeltaProduct layers (the kinds are those of lrnn/runtime/automaton_network.h).
//
//   kind            used for                               micro-steps of a permutation, of a reset [with delay]
//   fixed           nothing but the identity               -, -
//   slot            resets                                 -, write [swap with the delay, write]
//   sign            2 labels, permutations                 reflection, write [swap, write]
//   one_hot         permutations                           n - #cycles swaps, -
//   permuted_slot   both, n >= 3                           n - #cycles swaps in the first layer,
//                                                          write [swap, write] in the second
//   joint           instead of permuted_slot, one layer    n - #cycles swaps, n writes [n swaps, n writes]
//
// Without negative eigenvalues there are no swaps: only levels of resets, and the delay is (write 0, average, write),
// which leaves half the label.
#pragma once

#include "lrnn/runtime/automaton_network.h"

namespace lrnn {

struct LayerOptions {
  KeyStyle keys = KeyStyle::kExact;
  bool joint = false;
  bool negative_eigenvalues = true;
};

// `tables` has no permutation other than the identity when there are no negative eigenvalues.
AutomatonLevel BuildLevel(CascadeTables tables, const LayerOptions& options);

}  // namespace lrnn
