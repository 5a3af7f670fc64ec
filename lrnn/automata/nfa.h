// A nondeterministic automaton with empty moves, and the deterministic one of the same language.
#pragma once

#include <string>
#include <vector>

#include "lrnn/automata/dfa.h"

namespace lrnn {

struct Nfa {
  static constexpr int kEmpty = -1;  // the letter of an arc that reads nothing

  struct Arc {
    int from;
    int letter;  // or kEmpty
    int to;
  };

  int num_states = 0;
  std::vector<std::string> letters;
  std::vector<Arc> arcs;
  int start = 0;
  std::vector<bool> accepting;
};

// The reachable sets of states (subset construction), numbered in breadth-first order; complete, the empty set being
// the sink. Not minimised. Throws Error beyond max_states sets.
Dfa Determinise(const Nfa& nfa, int max_states = 100'000);

}  // namespace lrnn
