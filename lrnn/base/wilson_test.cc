#include "lrnn/base/wilson.h"

#include <gtest/gtest.h>

#include <cmath>

#include "lrnn/base/message_of.h"

namespace lrnn {
namespace {

constexpr double kZ = 1.959963984540054;  // the normal distribution's 97.5 % quantile

// The bounds are the rates q at which the observed p is just z standard deviations away, |p - q| = z sqrt(q (1-q) / n):
// found by bisection between p and 0 or 1.
double Bound(double p, double n, double end) {
  double inside = p, outside = end;
  for (int i = 0; i < 200; ++i) {
    const double q = (inside + outside) / 2;
    (std::abs(p - q) < kZ * std::sqrt(q * (1 - q) / n) ? inside : outside) = q;
  }
  return inside;
}

TEST(Wilson, SolvesItsEquation) {
  for (const int64_t n : {1, 10, 38, 263, 8192}) {
    for (const int64_t k : {n / 3, n / 2, n - n / 10}) {
      if (k == 0 || k == n) continue;
      const double p = static_cast<double>(k) / static_cast<double>(n);
      EXPECT_NEAR(WilsonInterval(k, n).low, Bound(p, n, 0), 1e-12) << k << " of " << n;
      EXPECT_NEAR(WilsonInterval(k, n).high, Bound(p, n, 1), 1e-12) << k << " of " << n;
    }
  }
}

TEST(Wilson, EndsAreExact) {
  for (int64_t n : {1, 38, 8192}) {
    EXPECT_EQ(WilsonInterval(n, n).high, 1.0);
    EXPECT_EQ(WilsonInterval(0, n).low, 0.0);
    EXPECT_NEAR(WilsonInterval(n, n).low, n / (n + kZ * kZ), 1e-12);
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
