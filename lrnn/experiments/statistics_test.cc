#include "lrnn/experiments/statistics.h"

#include <gtest/gtest.h>

#include "lrnn/base/message_of.h"

namespace lrnn {
namespace {

TEST(Statistics, OddAndEvenNumbersOfValues) {
  EXPECT_EQ(Median({3, 1, 2}), 2);
  EXPECT_EQ(Median({4, 1, 3, 2}), 2.5);
  EXPECT_EQ(Median({7}), 7);
}

TEST(Statistics, DeviationFromTheMedian) {
  // Deviations from 2: 1, 0, 8. An outlier does not move it.
  EXPECT_EQ(MedianAbsoluteDeviation({1, 2, 10}), 1);
  EXPECT_EQ(MedianAbsoluteDeviation({5}), 0);
}

TEST(Statistics, MeanAndStandardDeviation) {
  EXPECT_EQ(Mean({1, 2, 6}), 3);
  EXPECT_DOUBLE_EQ(StandardDeviation({1, 3}), 1);
  EXPECT_EQ(StandardDeviation({4}), 0);
}

TEST(Statistics, NothingHasNoMiddle) {
  EXPECT_EQ(MessageOf([] { Median({}); }), "[Median] expected at least one value, got none");
  EXPECT_EQ(MessageOf([] { Mean({}); }), "[Mean] expected at least one value, got none");
}

}  // namespace
}  // namespace lrnn
