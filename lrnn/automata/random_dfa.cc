#include "lrnn/automata/random_dfa.h"

#include "lrnn/automata/minimise.h"
#include "lrnn/base/error.h"

namespace lrnn {

Dfa RandomDfa(Rng& rng, int states, int letters) {
  LRNN_CHECK(states >= 1 && letters >= 1, "[random_dfa] expected at least one state and one letter, got {} and {}",
             states, letters);
  Dfa dfa;
  dfa.num_states = states;
  for (int letter = 0; letter < letters; ++letter) {
    dfa.letters.push_back(letter < 26 ? std::string(1, static_cast<char>('a' + letter)) : fmt::format("l{}", letter));
    std::vector<int>& row = dfa.next.emplace_back();
    for (int q = 0; q < states; ++q) row.push_back(static_cast<int>(rng.Below(static_cast<uint32_t>(states))));
  }
  for (int q = 0; q < states; ++q) dfa.accepting.push_back(rng.Below(2) == 1);
  return Trim(dfa);
}

}  // namespace lrnn
