#include "lrnn/automata/operations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "lrnn/automata/minimise.h"
#include "lrnn/automata/random_dfa.h"
#include "lrnn/base/message_of.h"

namespace lrnn {
namespace {

using testing::ElementsAre;
using testing::Optional;

// All words of at most so many letters, shorter ones first, then in letter order.
std::vector<std::vector<int>> AllWords(int letters, int max_length) {
  std::vector<std::vector<int>> words = {{}};
  for (size_t i = 0; i < words.size() && static_cast<int>(words[i].size()) < max_length; ++i) {
    for (int letter = 0; letter < letters; ++letter) {
      words.push_back(words[i]);
      words.back().push_back(letter);
    }
  }
  return words;
}

// The number of a's is r modulo m.
Dfa Counter(int m, int r) {
  Dfa dfa{m, {"a"}, {{}}, 0, std::vector<bool>(m, false)};
  for (int q = 0; q < m; ++q) dfa.next[0].push_back((q + 1) % m);
  dfa.accepting[r] = true;
  return dfa;
}

TEST(Product, CombinesRandomLanguages) {
  const auto words = AllWords(2, 7);
  for (uint64_t seed = 0; seed < 100; ++seed) {
    Rng rng(seed, 2);
    const Dfa a = RandomDfa(rng, 4, 2);
    const Dfa b = RandomDfa(rng, 4, 2);
    const Dfa both = Product(a, b, Combine::kIntersection);
    const Dfa either = Product(a, b, Combine::kUnion);
    const Dfa first = Product(a, b, Combine::kDifference);
    const Dfa one = Product(a, b, Combine::kSymmetricDifference);
    const Dfa not_a = Complement(a);
    ASSERT_NO_THROW(Validate(both));
    for (const auto& word : words) {
      const bool in_a = a.Accepts(word);
      const bool in_b = b.Accepts(word);
      ASSERT_EQ(both.Accepts(word), in_a && in_b);
      ASSERT_EQ(either.Accepts(word), in_a || in_b);
      ASSERT_EQ(first.Accepts(word), in_a && !in_b);
      ASSERT_EQ(one.Accepts(word), in_a != in_b);
      ASSERT_EQ(not_a.Accepts(word), !in_a);
    }
  }
}

TEST(Product, MatchesLettersByName) {
  const Dfa ends_in_b{2, {"a", "b"}, {{0, 0}, {1, 1}}, 0, {false, true}};
  const Dfa same{2, {"b", "a"}, {{1, 1}, {0, 0}}, 0, {false, true}};
  EXPECT_TRUE(Equivalent(ends_in_b, same));
  EXPECT_EQ(Product(same, ends_in_b, Combine::kUnion).letters, same.letters);
}

TEST(Product, NamesWhatDoesNotFit) {
  EXPECT_EQ(MessageOf([] {
              Product(Counter(2, 0), {1, {"b"}, {{0}}, 0, {true}}, Combine::kUnion);
            }),
            "[automata] expected automata over the same letters, but only one has the letter 'a'");
  EXPECT_EQ(MessageOf([] {
              Counterexample(Counter(2, 0), {1, {"a", "b"}, {{0}, {0}}, 0, {true}});
            }),
            "[automata] expected automata over the same letters, got 1 and 2");
  EXPECT_EQ(MessageOf([] { Product(Counter(7, 0), Counter(11, 0), Combine::kUnion, 76); }),
            "[automata] the two automata make more than 76 pairs of states");
  EXPECT_EQ(Product(Counter(7, 0), Counter(11, 0), Combine::kUnion, 77).num_states, 77);
}

TEST(Counterexample, IsTheFirstOfTheShortest) {
  const auto words = AllWords(2, 9);
  int differ = 0;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    Rng rng(seed, 3);
    const Dfa a = RandomDfa(rng, 4, 2);
    // One change to the minimal automaton gives languages that differ late; n + m - 2 letters are enough to see it.
    Dfa b = Minimise(a);
    const int q = static_cast<int>(rng.Below(b.num_states));
    b.next[rng.Below(2)][q] = static_cast<int>(rng.Below(b.num_states));
    const auto found = Counterexample(a, b);
    const auto first =
        std::find_if(words.begin(), words.end(), [&](const auto& word) { return a.Accepts(word) != b.Accepts(word); });
    ASSERT_EQ(found.has_value(), first != words.end()) << seed;
    ASSERT_EQ(Equivalent(a, b), !found);
    if (found) {
      ++differ;
      ASSERT_EQ(*found, *first) << seed;
    }
  }
  EXPECT_GT(differ, 50);
}

TEST(Counterexample, CanBeAsLongAsTheCountersNeed) {
  EXPECT_EQ(Counterexample(Counter(7, 6), Counter(11, 6))->size(), 13u);
  EXPECT_THAT(Counterexample(Counter(3, 0), Counter(3, 1)), Optional(ElementsAre()));
  EXPECT_EQ(Counterexample(Counter(3, 1), Minimise(Product(Counter(3, 1), Counter(6, 1), Combine::kUnion))),
            std::nullopt);
}

TEST(ShortestWord, OfALanguage) {
  EXPECT_THAT(ShortestWord(Counter(5, 3)), Optional(ElementsAre(0, 0, 0)));
  EXPECT_EQ(ShortestWord(Product(Counter(2, 0), Counter(2, 1), Combine::kIntersection)), std::nullopt);
}

}  // namespace
}  // namespace lrnn
