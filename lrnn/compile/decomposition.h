// An automaton as a cascade of levels of permutations and resets, by a chain system.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "lrnn/automata/dfa.h"
#include "lrnn/compile/chain_system.h"
#include "lrnn/runtime/automaton_network.h"

namespace lrnn {

struct Cascade {
  std::vector<int> first_context;  // [letter]
  std::vector<CascadeTables> levels;
  CascadeProof proof;

  // The state after a word: the definition of what a cascade does, for tests.
  int Run(std::span<const int> word) const;
};

// A set of states (a number of proof.sets) whose children some letter permutes; nothing when there are only resets.
std::optional<int> PermutedSet(const Cascade& cascade);

// Nothing when more than max_cases cases (from, to, letter) would be needed.
std::optional<Cascade> Decompose(const Dfa& dfa, const ChainSystem& chains, int64_t max_cases);

}  // namespace lrnn
