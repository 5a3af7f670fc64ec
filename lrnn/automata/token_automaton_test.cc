#include "lrnn/automata/token_automaton.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lrnn/automata/random_dfa.h"

namespace lrnn {
namespace {

using testing::ElementsAre;

// Counts the letter + modulo m and answers with the count.
TokenAutomaton Counter(int m) {
  TokenAutomaton counter{{m, {"0", "+"}, {{}, {}}, 0, std::vector<bool>(m, false)}, {}, {7, 8}, {}};
  for (int q = 0; q < m; ++q) {
    counter.dfa.next[0].push_back(q);
    counter.dfa.next[1].push_back((q + 1) % m);
    counter.answers.push_back(10 + q);
  }
  return counter;
}

TEST(MinimiseAnswers, MergesWhatAnswersTheSame) {
  TokenAutomaton six = Counter(6);
  for (int q = 0; q < 6; ++q) six.answers[q] = 10 + q % 3;
  const MinimalAnswers minimal = MinimiseAnswers(six);
  EXPECT_EQ(minimal.automaton.dfa.num_states, 3);
  EXPECT_THAT(minimal.state_of, ElementsAre(0, 1, 2, 0, 1, 2));
  EXPECT_THAT(minimal.automaton.answers, ElementsAre(10, 11, 12));
  EXPECT_EQ(minimal.automaton.dfa.next, Counter(3).dfa.next);
  EXPECT_EQ(minimal.automaton.tokens, six.tokens);
}

TEST(MinimiseAnswers, DropsWhatCannotBeReached) {
  TokenAutomaton three = Counter(3);
  three.dfa.next[1] = {1, 0, 2};
  const MinimalAnswers minimal = MinimiseAnswers(three);
  EXPECT_EQ(minimal.automaton.dfa.num_states, 2);
  EXPECT_THAT(minimal.state_of, ElementsAre(0, 1, -1));
}

TEST(MinimiseAnswers, RandomAutomataAnswerAsBefore) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    Rng rng(seed, 0);
    TokenAutomaton automaton{RandomDfa(rng, 8, 2), {}, {0, 1}, {}};
    for (int q = 0; q < automaton.dfa.num_states; ++q) {
      automaton.answers.push_back(static_cast<int32_t>(rng.Below(3)));
      automaton.dfa.accepting[q] = automaton.answers[q] == 0;
    }
    const MinimalAnswers minimal = MinimiseAnswers(automaton);
    Validate(minimal.automaton.dfa);
    EXPECT_FALSE(CompareAnswers(automaton, minimal.automaton));
    EXPECT_EQ(MinimiseAnswers(minimal.automaton).automaton.dfa.num_states, minimal.automaton.dfa.num_states);
    std::vector<int> word;
    for (int i = 0; i < 50; ++i) {
      word.push_back(static_cast<int>(rng.Below(2)));
      ASSERT_EQ(minimal.state_of[automaton.dfa.Run(word)], minimal.automaton.dfa.Run(word));
      ASSERT_EQ(automaton.answers[automaton.dfa.Run(word)], minimal.automaton.answers[minimal.automaton.dfa.Run(word)]);
    }
  }
}

TEST(CompareAnswers, GivesAShortestWord) {
  EXPECT_FALSE(CompareAnswers(Counter(5), Counter(5)));
  const auto difference = CompareAnswers(Counter(3), Counter(4));
  ASSERT_TRUE(difference);
  EXPECT_THAT(difference->word, ElementsAre(1, 1, 1));
  EXPECT_EQ(difference->first, 10);
  EXPECT_EQ(difference->second, 13);
}

TEST(CompareAnswers, LettersInAnotherOrder) {
  TokenAutomaton other = Counter(3);
  std::swap(other.dfa.letters[0], other.dfa.letters[1]);
  std::swap(other.dfa.next[0], other.dfa.next[1]);
  EXPECT_FALSE(CompareAnswers(Counter(3), other));
  other.answers[2] = 99;
  const auto difference = CompareAnswers(Counter(3), other);
  ASSERT_TRUE(difference);
  EXPECT_THAT(difference->word, ElementsAre(1, 1));
  EXPECT_EQ(difference->second, 99);
}

TEST(CompareAnswers, TheEmptyWord) {
  TokenAutomaton other = Counter(2);
  other.answers = {11, 10};
  const auto difference = CompareAnswers(Counter(2), other);
  ASSERT_TRUE(difference);
  EXPECT_TRUE(difference->word.empty());
}

}  // namespace
}  // namespace lrnn
