#include "lrnn/automata/finite_group.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lrnn/automata/monoid.h"
#include "lrnn/base/message_of.h"
#include "lrnn/base/rng.h"

namespace lrnn {
namespace {

using testing::ElementsAre;

std::vector<int> ElementsMovingAtMost(const FiniteGroup& group, int points) {
  std::vector<int> ids;
  for (int id = 0; id < group.order(); ++id) {
    if (MovedPoints(group.element(id)) <= points) ids.push_back(id);
  }
  return ids;
}

TEST(FiniteGroup, S5IsNumberedLexicographically) {
  const FiniteGroup s5(ParseGroup("S5"));
  EXPECT_EQ(s5.element(0), IdentityPermutation(5));
  EXPECT_EQ(s5.element(1), (Permutation{0, 1, 2, 4, 3}));
  EXPECT_EQ(s5.element(119), (Permutation{4, 3, 2, 1, 0}));
  EXPECT_EQ(s5.Multiply(1, 2), 4);
  EXPECT_EQ(s5.Multiply(2, 1), 3);
  EXPECT_EQ(s5.Multiply(24, 1), 25);
  EXPECT_EQ(s5.Multiply(5, 7), 18);
  EXPECT_EQ(s5.Multiply(119, 33), 86);
  EXPECT_THAT(ElementsMovingAtMost(s5, 2), ElementsAre(0, 1, 2, 5, 6, 14, 21, 24, 54, 80, 105));
  EXPECT_THAT(ElementsMovingAtMost(s5, 3), ElementsAre(0, 1, 2, 3, 4, 5, 6, 8, 11, 12, 14, 15, 19, 20, 21, 24, 30, 38,
                                                       45, 48, 54, 56, 59, 74, 78, 80, 81, 99, 103, 104, 105));
  EXPECT_EQ(ElementsMovingAtMost(s5, 4).size(), 1u + 10 + 20 + 45);
}

TEST(FiniteGroup, A5IsTheEvenHalfOfS5InTheSameOrder) {
  const FiniteGroup s5(ParseGroup("S5"));
  const FiniteGroup a5(ParseGroup("A5"));
  std::vector<int> ids;
  for (int id = 0; id < a5.order(); ++id) ids.push_back(s5.Find(a5.element(id)));
  ids.resize(15);
  EXPECT_THAT(ids, ElementsAre(0, 3, 4, 7, 8, 11, 12, 15, 16, 19, 20, 23, 25, 26, 29));
}

TEST(FiniteGroup, CyclicGroupsAddAndProductsCountTheSecondFactorFirst) {
  const FiniteGroup z60(ParseGroup("Z60"));
  for (int a = 0; a < 60; ++a) {
    for (int b = 0; b < 60; ++b) EXPECT_EQ(z60.Multiply(a, b), (a + b) % 60);
  }
  const FiniteGroup a4(ParseGroup("A4"));
  const FiniteGroup product(ParseGroup("A4xZ5"));
  for (int a = 0; a < 60; ++a) {
    for (int b = 0; b < 60; ++b) {
      EXPECT_EQ(product.Multiply(a, b), a4.Multiply(a / 5, b / 5) * 5 + (a % 5 + b % 5) % 5);
    }
  }
}

TEST(FiniteGroup, MultiplicationIsThatOfThePermutationsWithAndWithoutATable) {
  for (const char* name : {"Q8", "PSL(2,7)", "A7"}) {  // A7 is too large for a table
    const FiniteGroup group(ParseGroup(name));
    Rng rng(1, 0);
    for (int i = 0; i < 2000; ++i) {
      const int a = static_cast<int>(rng.Below(group.order()));
      const int b = static_cast<int>(rng.Below(group.order()));
      EXPECT_EQ(group.element(group.Multiply(a, b)), Multiply(group.element(a), group.element(b)));
      EXPECT_EQ(group.Multiply(a, group.Inverse(a)), 0);
    }
  }
}

TEST(FiniteGroup, ElementsAreClosedAndSubsetsNot) {
  const FiniteGroup group(ParseGroup("A4"));
  std::vector<Permutation> elements;
  for (int id = 0; id < group.order(); ++id) elements.push_back(group.element(id));
  EXPECT_TRUE(IsClosed(elements));
  elements.pop_back();
  EXPECT_FALSE(IsClosed(elements));
  EXPECT_FALSE(IsClosed({}));
  EXPECT_EQ(group.Find({1, 0, 2, 3}), -1);  // odd
}

TEST(FiniteGroup, CayleyAutomatonFollowsTheProduct) {
  const FiniteGroup s3(ParseGroup("S3"));
  for (const CayleyLetters letters : {CayleyLetters::kGenerators, CayleyLetters::kElements}) {
    const Dfa dfa = CayleyAutomaton(s3, letters);
    EXPECT_NO_THROW(Validate(dfa));
    const bool all = letters == CayleyLetters::kElements;
    EXPECT_EQ(dfa.num_letters(), all ? 6 : 2);
    Rng rng(2, 0);
    int product = 0;
    std::vector<int> word;
    for (int t = 0; t < 50; ++t) {
      word.push_back(static_cast<int>(rng.Below(dfa.num_letters())));
      product = s3.Multiply(product, all ? word.back() : s3.generators()[word.back()]);
      EXPECT_EQ(dfa.Run(word), product);
      EXPECT_EQ(dfa.Accepts(word), product == 0);
    }
    EXPECT_EQ(TransitionMonoidSize(dfa), 6);
  }
  EXPECT_THAT(CayleyAutomaton(s3).letters, ElementsAre("(0,1)", "(0,1,2)"));
}

TEST(FiniteGroup, ActionAutomatonMovesPoints) {
  const Dfa dfa = ActionAutomaton(ParseGroup("S5"));
  EXPECT_NO_THROW(Validate(dfa));
  EXPECT_EQ(dfa.num_states, 5);
  EXPECT_EQ(dfa.RunFrom(1, std::vector<int>{0, 1, 1}), 2);  // 1 -> 0 -> 1 -> 2
  EXPECT_EQ(TransitionMonoidSize(dfa), 120);
}

TEST(FiniteGroup, LargeGroupsAndWrongGeneratorsAreRefused) {
  EXPECT_EQ(MessageOf([] { FiniteGroup(ParseGroup("S9")); }),
            "[finite_group] the group S9 has more than 20000 elements, the largest number allowed");
  EXPECT_EQ(MessageOf([] {
              FiniteGroup({"broken", 3, {{0, 0, 1}}});
            }),
            "[finite_group] expected generators that permute 3 points, got (0 0 1)");
  EXPECT_EQ(MessageOf([] {
              FiniteGroup({"none", 3, {}});
            }),
            "[finite_group] expected at least one point and one generator");
  EXPECT_EQ(MessageOf([] { CayleyAutomaton(FiniteGroup(ParseGroup("S7xZ2")), CayleyLetters::kElements); }),
            "[cayley_automaton] expected a group of at most 8192 elements to make them all letters, got 10080");
}

}  // namespace
}  // namespace lrnn
