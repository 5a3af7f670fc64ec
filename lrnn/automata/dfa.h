// A complete deterministic finite automaton.
//
// States are 0 .. num_states - 1, letters 0 .. num_letters() - 1. Words act from left to right: reading letter s in
// state q leads to next[s][q].
#pragma once

#include <span>
#include <string>
#include <vector>

namespace lrnn {

struct Dfa {
  int num_states = 0;
  std::vector<std::string> letters;    // letters[s] is how letter s is written
  std::vector<std::vector<int>> next;  // next[s][q]
  int start = 0;
  std::vector<bool> accepting;  // accepting[q]

  int num_letters() const { return static_cast<int>(letters.size()); }

  int Run(std::span<const int> word) const { return RunFrom(start, word); }

  int RunFrom(int state, std::span<const int> word) const {
    for (const int letter : word) state = next[letter][state];
    return state;
  }

  bool Accepts(std::span<const int> word) const { return accepting[Run(word)]; }
};

// Throws Error naming what is wrong: no states, no letters, a letter named twice, a table of the wrong size, or a state
// out of range.
void Validate(const Dfa& dfa);

}  // namespace lrnn
