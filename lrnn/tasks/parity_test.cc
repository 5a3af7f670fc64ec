#include "lrnn/tasks/parity.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "lrnn/base/error.h"

namespace lrnn {
namespace {

// The label by the two-state automaton that accepts the words with an odd number of ones.
int32_t AutomatonLabel(const std::vector<int32_t>& tokens) {
  const int next[2][2] = {{0, 1}, {1, 0}};
  int state = 0;
  for (int32_t token : tokens) state = next[state][token - 1];
  return 1 + state;
}

TEST(Parity, LabelsAreThoseOfTheAutomaton) {
  const Parity parity;
  for (uint64_t i = 0; i < 500; ++i) {
    const int64_t length = 2 + static_cast<int64_t>(i % 60);
    std::vector<int32_t> tokens(length - 1), targets(length - 1);
    parity.Open(length, Rng(1, i))->Read(tokens, targets);
    for (int32_t token : tokens) ASSERT_TRUE(token == 1 || token == 2);
    EXPECT_EQ(targets.back(), AutomatonLabel(tokens));
    EXPECT_EQ(std::count(targets.begin(), targets.end(), kNoTarget), length - 2);
  }
}

TEST(Parity, BitsAndAnswersAreBalanced) {
  const Parity parity;
  int ones = 0, odd = 0, bits = 0;
  for (uint64_t i = 0; i < 4000; ++i) {
    std::vector<int32_t> tokens(10), targets(10);
    parity.Open(11, Rng(2, i))->Read(tokens, targets);
    ones += static_cast<int>(std::count(tokens.begin(), tokens.end(), 2));
    odd += targets.back() == 2;
    bits += 10;
  }
  EXPECT_NEAR(ones / static_cast<double>(bits), 0.5, 0.01);
  EXPECT_NEAR(odd / 4000.0, 0.5, 0.03);
}

TEST(Parity, ScaledAccuracy) {
  EXPECT_DOUBLE_EQ(Parity().Scaled(0.5), 0);
  EXPECT_DOUBLE_EQ(Parity().Scaled(1.0), 1);
}

TEST(Parity, RefusesAWordWithoutBits) { EXPECT_THROW(Parity().Open(1, Rng(0, 0)), Error); }

}  // namespace
}  // namespace lrnn
