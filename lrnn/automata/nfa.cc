#include "lrnn/automata/nfa.h"

#include <algorithm>
#include <unordered_map>

#include "lrnn/base/error.h"

namespace lrnn {
namespace {

constexpr int64_t kMaxNumbers = int64_t{1} << 25;  // of all sets, and of the table: 128 MB each

using States = std::u32string;  // a sorted list of states that can be hashed

// The arcs of each state.
class ArcsByState {
 public:
  explicit ArcsByState(const Nfa& nfa) : begin_(nfa.num_states + 1, 0), arcs_(nfa.arcs.size()) {
    for (const Nfa::Arc& arc : nfa.arcs) ++begin_[arc.from + 1];
    for (int q = 0; q < nfa.num_states; ++q) begin_[q + 1] += begin_[q];
    std::vector<int> place(begin_.begin(), begin_.end() - 1);
    for (const Nfa::Arc& arc : nfa.arcs) arcs_[place[arc.from]++] = arc;
  }

  std::span<const Nfa::Arc> of(int state) const {
    return std::span(arcs_).subspan(begin_[state], begin_[state + 1] - begin_[state]);
  }

 private:
  std::vector<int> begin_;
  std::vector<Nfa::Arc> arcs_;
};

void Check(const Nfa& nfa) {
  LRNN_CHECK(nfa.num_states > 0 && nfa.start >= 0 && nfa.start < nfa.num_states && !nfa.letters.empty() &&
                 static_cast<int>(nfa.accepting.size()) == nfa.num_states,
             "[determinise] expected states, a start among them, letters and accepting flags");
  const int letters = static_cast<int>(nfa.letters.size());
  for (const auto& [from, letter, to] : nfa.arcs) {
    LRNN_CHECK(from >= 0 && from < nfa.num_states && to >= 0 && to < nfa.num_states && letter >= Nfa::kEmpty &&
                   letter < letters,
               "[determinise] the arc {} -{}-> {} is out of range", from, letter, to);
  }
}

}  // namespace

Dfa Determinise(const Nfa& nfa, int max_states) {
  Check(nfa);
  const ArcsByState arcs(nfa);
  std::vector<int> visited(nfa.num_states, 0);
  int walk = 0;
  // The states, sorted, and those that empty moves reach from them.
  const auto closure = [&](std::vector<int>& states) {
    ++walk;
    size_t kept = 0;
    for (const int q : states) {
      if (std::exchange(visited[q], walk) != walk) states[kept++] = q;
    }
    states.resize(kept);
    for (size_t i = 0; i < states.size(); ++i) {
      for (const Nfa::Arc& arc : arcs.of(states[i])) {
        if (arc.letter == Nfa::kEmpty && std::exchange(visited[arc.to], walk) != walk) states.push_back(arc.to);
      }
    }
    std::sort(states.begin(), states.end());
    return States(states.begin(), states.end());
  };

  const int num_letters = static_cast<int>(nfa.letters.size());
  Dfa dfa;
  dfa.letters = nfa.letters;
  dfa.next.resize(num_letters);
  std::unordered_map<States, int> numbers;
  std::vector<const States*> sets;
  int64_t stored = 0;
  const auto number = [&](States states) {
    const auto [place, is_new] = numbers.emplace(std::move(states), static_cast<int>(sets.size()));
    if (is_new) {
      sets.push_back(&place->first);
      stored += static_cast<int64_t>(place->first.size());
      LRNN_CHECK(static_cast<int>(sets.size()) <= max_states,
                 "[determinise] the deterministic automaton has more than {} states (max_states)", max_states);
      LRNN_CHECK(stored <= kMaxNumbers && static_cast<int64_t>(sets.size()) * num_letters <= kMaxNumbers,
                 "[determinise] the deterministic automaton takes more than {} MB", kMaxNumbers * 4 >> 20);
    }
    return place->second;
  };

  std::vector<int> start = {nfa.start};
  number(closure(start));
  std::vector<std::vector<int>> reached(num_letters);
  int sink = -1;  // the empty set, once it is met
  for (size_t i = 0; i < sets.size(); ++i) {
    bool is_accepting = false;
    for (const char32_t q : *sets[i]) {
      is_accepting = is_accepting || nfa.accepting[q];
      for (const Nfa::Arc& arc : arcs.of(static_cast<int>(q))) {
        if (arc.letter != Nfa::kEmpty) reached[arc.letter].push_back(arc.to);
      }
    }
    dfa.accepting.push_back(is_accepting);
    for (int letter = 0; letter < num_letters; ++letter) {
      if (reached[letter].empty()) {
        if (sink < 0) sink = number({});
        dfa.next[letter].push_back(sink);
      } else {
        dfa.next[letter].push_back(number(closure(reached[letter])));
        reached[letter].clear();
      }
    }
  }
  dfa.num_states = static_cast<int>(sets.size());
  return dfa;
}

}  // namespace lrnn
