#include "lrnn/report/wilson.h"

#include <gtest/gtest.h>

#include "lrnn/io/message_of.h"

namespace lrnn {
namespace {

// Values of R's binom::binom.confint(x, n, methods = "wilson").
TEST(Wilson, KnownValues) {
  const Interval half = WilsonInterval(5, 10);
  EXPECT_NEAR(half.low, 0.2365931, 1e-7);
  EXPECT_NEAR(half.high, 0.7634069, 1e-7);
  const Interval most = WilsonInterval(81, 263);
  EXPECT_NEAR(most.low, 0.2552852, 1e-6);
  EXPECT_NEAR(most.high, 0.3662124, 1e-6);
}

TEST(Wilson, EndsAreExact) {
  for (int64_t n : {1, 38, 8192}) {
    EXPECT_EQ(WilsonInterval(n, n).high, 1.0);
    EXPECT_EQ(WilsonInterval(0, n).low, 0.0);
    EXPECT_NEAR(WilsonInterval(n, n).low, n / (n + 1.959963984540054 * 1.959963984540054), 1e-12);
  }
}

TEST(Wilson, IsSymmetric) {
  const Interval a = WilsonInterval(7, 38), b = WilsonInterval(31, 38);
  EXPECT_NEAR(a.low, 1 - b.high, 1e-12);
  EXPECT_NEAR(a.high, 1 - b.low, 1e-12);
}

TEST(Wilson, RefusesImpossibleCounts) {
  EXPECT_EQ(MessageOf([] { WilsonInterval(0, 0); }), "[WilsonInterval] expected at least one trial, got 0");
  EXPECT_EQ(MessageOf([] { WilsonInterval(4, 3); }), "[WilsonInterval] expected 0 .. 3 successes, got 4");
}

TEST(Wilson, ScaledAccuracy) {
  EXPECT_DOUBLE_EQ(ScaledAccuracy(0.5, 0.5), 0);
  EXPECT_DOUBLE_EQ(ScaledAccuracy(1, 0.2), 1);
  EXPECT_DOUBLE_EQ(ScaledAccuracy(0.4, 0.5), -0.2);
}

}  // namespace
}  // namespace lrnn
