#include "lrnn/automata/nfa.h"

#include <gtest/gtest.h>

#include <set>

#include "lrnn/automata/minimise.h"
#include "lrnn/base/message_of.h"
#include "lrnn/base/rng.h"

namespace lrnn {
namespace {

// By definition: follow every path.
bool Accepts(const Nfa& nfa, std::span<const int> word) {
  std::set<std::pair<int, size_t>> seen;
  std::vector<std::pair<int, size_t>> stack = {{nfa.start, 0}};
  while (!stack.empty()) {
    const auto [state, read] = stack.back();
    stack.pop_back();
    if (!seen.insert({state, read}).second) continue;
    if (read == word.size() && nfa.accepting[state]) return true;
    for (const auto& [from, letter, to] : nfa.arcs) {
      if (from != state) continue;
      if (letter == Nfa::kEmpty) stack.emplace_back(to, read);
      if (read < word.size() && letter == word[read]) stack.emplace_back(to, read + 1);
    }
  }
  return false;
}

TEST(Determinise, RandomAutomata) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    Rng rng(seed, 7);
    const int n = 1 + static_cast<int>(rng.Below(6));
    Nfa nfa{n, {"a", "b"}, {}, static_cast<int>(rng.Below(n)), {}};
    for (int q = 0; q < n; ++q) nfa.accepting.push_back(rng.Below(3) == 0);
    const int arcs = static_cast<int>(rng.Below(3 * n));
    for (int i = 0; i < arcs; ++i) {
      nfa.arcs.push_back(
          {static_cast<int>(rng.Below(n)), static_cast<int>(rng.Below(3)) - 1, static_cast<int>(rng.Below(n))});
    }
    const Dfa dfa = Determinise(nfa);
    ASSERT_NO_THROW(Validate(dfa));
    EXPECT_EQ(Trim(dfa).next, dfa.next);  // reachable, breadth first
    std::vector<std::vector<int>> words = {{}};
    for (size_t i = 0; i < words.size(); ++i) {
      ASSERT_EQ(dfa.Accepts(words[i]), Accepts(nfa, words[i])) << seed;
      if (words[i].size() == 6) continue;
      for (const int letter : {0, 1}) {
        words.push_back(words[i]);
        words.back().push_back(letter);
      }
    }
  }
}

TEST(Determinise, Errors) {
  // The letter before the last 12 is an a.
  Nfa nfa{14, {"a", "b"}, {{0, 0, 0}, {0, 1, 0}, {0, 0, 1}}, 0, std::vector<bool>(14, false)};
  for (int q = 1; q < 13; ++q) {
    nfa.arcs.push_back({q, 0, q + 1});
    nfa.arcs.push_back({q, 1, q + 1});
  }
  nfa.accepting[13] = true;
  EXPECT_EQ(Determinise(nfa).num_states, 8192);
  EXPECT_EQ(MessageOf([&] { Determinise(nfa, 8191); }),
            "[determinise] the deterministic automaton has more than 8191 states (max_states)");
  EXPECT_EQ(MessageOf([] {
              Determinise({1, {"a"}, {{0, 1, 0}}, 0, {true}});
            }),
            "[determinise] the arc 0 -1-> 0 is out of range");
  EXPECT_EQ(MessageOf([] {
              Determinise({1, {}, {}, 0, {true}});
            }),
            "[determinise] expected states, a start among them, letters and accepting flags");
  // A large alphabet and many states: the table is refused before it is made.
  Nfa wide{10000, std::vector<std::string>(4000, "x"), {}, 0, std::vector<bool>(10000, false)};
  for (int q = 0; q + 1 < wide.num_states; ++q) wide.arcs.push_back({q, 0, q + 1});
  EXPECT_EQ(MessageOf([&] { Determinise(wide); }), "[determinise] the deterministic automaton takes more than 128 MB");
}

}  // namespace
}  // namespace lrnn
