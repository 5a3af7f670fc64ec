#include "lrnn/runtime/fixed8.h"

#include <gtest/gtest.h>

namespace lrnn {
namespace {

float Round(float value) { return static_cast<float>(Fixed8(value)); }

TEST(Fixed8, RoundsToSixteenths) {
  EXPECT_EQ(Round(0.0625f), 0.0625f);
  EXPECT_EQ(Round(0.03f), 0.0f);
  EXPECT_EQ(Round(0.04f), 0.0625f);
  EXPECT_EQ(Round(0.03125f), 0.0f) << "a tie, to even";
  EXPECT_EQ(Round(0.09375f), 0.125f) << "a tie, to even";
  EXPECT_EQ(Round(-1.51f), -1.5f);
}

TEST(Fixed8, StopsAtTheEnds) {
  EXPECT_EQ(Round(100.0f), 7.9375f);
  EXPECT_EQ(Round(-100.0f), -8.0f);
  EXPECT_EQ(static_cast<float>(Fixed8(5.0f) + Fixed8(5.0f)), 7.9375f);
  EXPECT_EQ(static_cast<float>(Fixed8(-5.0f) - Fixed8(5.0f)), -8.0f);
}

TEST(Fixed8, Arithmetic) {
  EXPECT_EQ(static_cast<float>(Fixed8(1.5f) + Fixed8(0.25f)), 1.75f);
  EXPECT_EQ(static_cast<float>(Fixed8(1.5f) - Fixed8(0.25f)), 1.25f);
  EXPECT_EQ(static_cast<float>(Fixed8(0.75f) * Fixed8(0.75f)), 0.5625f);
  EXPECT_EQ(static_cast<float>(Fixed8(0.25f) * Fixed8(0.1875f)), 0.0625f) << "0.046875 rounds up";
}

}  // namespace
}  // namespace lrnn
