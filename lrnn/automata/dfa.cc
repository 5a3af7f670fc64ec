#include "lrnn/automata/dfa.h"

#include <set>

#include "lrnn/base/error.h"

namespace lrnn {

void Validate(const Dfa& dfa) {
  LRNN_CHECK(dfa.num_states > 0, "[automaton] expected at least one state");
  LRNN_CHECK(!dfa.letters.empty(), "[automaton] expected at least one letter");
  LRNN_CHECK(dfa.start >= 0 && dfa.start < dfa.num_states, "[automaton] the start state {} is not among the {} states",
             dfa.start, dfa.num_states);
  LRNN_CHECK(static_cast<int>(dfa.accepting.size()) == dfa.num_states,
             "[automaton] expected {} accepting flags, got {}", dfa.num_states, dfa.accepting.size());
  LRNN_CHECK(dfa.next.size() == dfa.letters.size(), "[automaton] expected {} rows of transitions, got {}",
             dfa.letters.size(), dfa.next.size());
  std::set<std::string> names;
  for (int letter = 0; letter < dfa.num_letters(); ++letter) {
    LRNN_CHECK(names.insert(dfa.letters[letter]).second, "[automaton] letter '{}' is named twice", dfa.letters[letter]);
    const std::vector<int>& row = dfa.next[letter];
    LRNN_CHECK(static_cast<int>(row.size()) == dfa.num_states,
               "[automaton] letter '{}': expected {} transitions, got {}", dfa.letters[letter], dfa.num_states,
               row.size());
    for (int state = 0; state < dfa.num_states; ++state) {
      LRNN_CHECK(row[state] >= 0 && row[state] < dfa.num_states,
                 "[automaton] letter '{}' leads from state {} to {}, which is not among the {} states",
                 dfa.letters[letter], state, row[state], dfa.num_states);
    }
  }
}

}  // namespace lrnn
