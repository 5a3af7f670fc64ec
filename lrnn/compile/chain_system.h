// Chain systems: the families of sets of states from which a cascade is built.
//
// A family F of sets of states contains Q and the singletons; each set P of two or more states has children, proper
// subsets of P in F; level(P) is 0 for singletons and level(T) < level(P) for a child T of P. A state q of the
// automaton is written as a chain Q > C_1 > ... > {q} of children; level i of the cascade names the child chosen of the
// chain's set of level i.
//
// A letter s that takes P into P' (P s a subset of P', level(P) <= level(P') = i) must do one of two things to level i:
//   reset        P s lies in one child of P'
//   permutation  P s = P', level(P) = i, and T -> T s maps the children of P one-to-one to children of P'
// Then the cascade of level(Q) levels, each of permutations and resets alone, simulates the automaton.
//
//   kSubsets  all subsets, children P \ {y}, level(P) = |P| - 1: |Q| - 1 levels for every automaton
//   kRelaxed  the images Q w and the singletons, children the maximal subsets among them; the level is the smallest
//             with level(T) < level(P) for T < P, level(P s) < level(P) where |P s| < |P|, else level(P s) <= level(P):
//             never more than |Q| - 1 levels, usually fewer
//   kHeight   as kRelaxed, but level(P s) < level(P) also for |P s| = |P| unless P can be reached again from P s
//             (the height of the holonomy decomposition). An automaton is aperiodic if and only if its cascade of this
//             kind has no permutation.
#pragma once

#include <cstdint>
#include <memory>

#include "lrnn/automata/dfa.h"
#include "lrnn/compile/state_set.h"

namespace lrnn {

enum class ChainKind { kSubsets, kRelaxed, kHeight };

class ChainSystem {
 public:
  virtual ~ChainSystem() = default;

  virtual int Level(const StateSet& set) const = 0;

  // A child of `set` that contains `part`, a subset of it that is not all of it.
  virtual StateSet Pick(const StateSet& set, const StateSet& part) const = 0;
};

// Nothing when the family has more than max_sets sets. The automaton has at most StateSet::kMaxStates states.
std::unique_ptr<ChainSystem> MakeChainSystem(const Dfa& dfa, ChainKind kind, int64_t max_sets);

}  // namespace lrnn
