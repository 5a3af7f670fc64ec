#include "lrnn/train/schedule.h"

#include <gtest/gtest.h>

namespace lrnn {
namespace {

TEST(LearningRate, WarmsUpFromZeroAndEndsAtTheSmallShare) {
  const auto rate = [](int64_t t) { return LearningRate(t, 20000, 2000, 1e-3, 1e-3); };
  EXPECT_EQ(rate(0), 0);
  EXPECT_DOUBLE_EQ(rate(1000), 5e-4);
  EXPECT_DOUBLE_EQ(rate(2000), 1e-3);
  EXPECT_NEAR(rate(11000), (1e-3 + 1e-6) / 2, 1e-12);  // half of the cosine
  EXPECT_NEAR(rate(20000), 1e-6, 1e-15);
}

TEST(LearningRate, NoWarmUpAndNothingButWarmUp) {
  EXPECT_DOUBLE_EQ(LearningRate(0, 10, 0, 0.1, 0), 0.1);
  EXPECT_DOUBLE_EQ(LearningRate(9, 10, 10, 0.1, 0), 0.09);
}

}  // namespace
}  // namespace lrnn
