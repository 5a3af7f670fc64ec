#include "lrnn/tasks/parity.h"

#include <gtest/gtest.h>

#include <algorithm>

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
    const auto [tokens, targets] = ReadExample(parity, length, Rng(1, i));
    ASSERT_EQ(static_cast<int64_t>(tokens.size()), length - 1);
    for (int32_t token : tokens) ASSERT_TRUE(token == 1 || token == 2);
    EXPECT_EQ(targets.back(), AutomatonLabel(tokens));
    EXPECT_EQ(std::count(targets.begin(), targets.end(), kNoTarget), length - 2);
  }
}

TEST(Parity, BitsAndAnswersAreBalanced) {
  const Parity parity;
  int ones = 0, odd = 0, bits = 0;
  for (uint64_t i = 0; i < 4000; ++i) {
    const auto [tokens, targets] = ReadExample(parity, 11, Rng(2, i));
    ones += static_cast<int>(std::count(tokens.begin(), tokens.end(), 2));
    odd += targets.back() == 2;
    bits += 10;
  }
  EXPECT_NEAR(ones / static_cast<double>(bits), 0.5, 0.01);
  EXPECT_NEAR(odd / 4000.0, 0.5, 0.03);
}

}  // namespace
}  // namespace lrnn
