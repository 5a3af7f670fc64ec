#include "lrnn/theory/period.h"

#include <gtest/gtest.h>

#include "lrnn/automata/regex.h"
#include "lrnn/base/rng.h"
#include "lrnn/compile/compiler.h"

namespace lrnn {
namespace {

TEST(Period, OfCompiledAutomata) {
  for (const auto& [pattern, period] : {std::pair("(aa)*", 2), {"(aaa)*", 3}, {"a{5}a*", 1}}) {
    SCOPED_TRACE(pattern);
    const auto results = FindPeriods(Compile(FromRegex(pattern), {}).network, {0}, 1000);
    ASSERT_EQ(results.size(), kRoundings.size());
    for (size_t i = 0; i < results.size(); ++i) {
      EXPECT_EQ(results[i].rounding, kRoundings[i]);
      ASSERT_TRUE(results[i].stepwise.has_value());
      EXPECT_EQ(results[i].stepwise->period, period) << results[i].rounding;
    }
  }
}

TransitionLayer Layer(const Matrix& A, std::vector<double> B = {}) {
  return {"layer 1", 1, {}, {{"x", A, std::move(B)}}};
}

void ExpectPeriod(const TransitionLayer& layer, int64_t period) {
  for (const PeriodResult& result : FindPeriods(layer, {0}, 100'000)) {
    SCOPED_TRACE(result.rounding);
    ASSERT_TRUE(result.stepwise.has_value());
    EXPECT_EQ(result.stepwise->period, period);
    if (result.rounding != "fp64") {
      EXPECT_EQ(result.cast, period);
    }
  }
}

TEST(Period, OfSimpleMatrices) {
  ExpectPeriod(Layer({{0.5}}), 1);
  ExpectPeriod(Layer({{0.5}}, {1.0}), 1);
  ExpectPeriod(Layer({{-1}}), 2);
  ExpectPeriod(Layer({{-1, 0}, {0, 0.5}}), 2);
  ExpectPeriod(Layer({{0, 0, 1}, {1, 0, 0}, {0, 1, 0}}), 3);
  ExpectPeriod(Layer({{0, -1}, {1, 0}}), 4);
}

TEST(Period, AWordIsOneStep) {
  TransitionLayer layer{"layer 1", 1, {1.0, 2.0, 3.0}, {}};
  layer.transitions.push_back({"a", {{0, 1, 0}, {1, 0, 0}, {0, 0, 1}}, {}});
  layer.transitions.push_back({"b", {{1, 0, 0}, {0, 0, 1}, {0, 1, 0}}, {}});
  for (const PeriodResult& result : FindPeriods(layer, {0, 1}, 1000)) EXPECT_EQ(result.stepwise->period, 3);
  for (const PeriodResult& result : FindPeriods(layer, {0}, 1000)) EXPECT_EQ(result.stepwise->period, 2);
}

// Rounding keeps the order of numbers. So H <- fl(a H + b) rises with H for a >= 0 and ends in a fixed point, and falls
// for a < 0 and ends in a cycle of 2 at most, whatever the format.
TEST(Period, EigenvaluesDecideThePeriod) {
  Rng rng(5, 0);
  for (int i = 0; i < 40; ++i) {
    const bool negative = i % 2 == 1;
    const int n = 3;
    Matrix A(n, n);
    std::vector<double> B(n);
    for (int row = 0; row < n; ++row) {
      A(row, row) = rng.Uniform(negative ? -1.0 : 0.0, negative ? 0.0 : 0.9);
      B[row] = rng.Uniform(-0.1, 0.1);
    }
    for (const PeriodResult& result : FindPeriods(Layer(A, B), {0}, 100'000)) {
      SCOPED_TRACE(result.rounding);
      ASSERT_TRUE(result.stepwise.has_value());
      EXPECT_LE(result.stepwise->period, negative ? 2 : 1);
    }
  }
}

TEST(Period, GivesUpOnWhatGrows) {
  const auto results = FindPeriods(Layer({{1}}, {1.0}), {0}, 1000);
  EXPECT_FALSE(results[0].stepwise.has_value());
  EXPECT_EQ(results[3].stepwise->period, 1) << "8 bits are soon full";
}

}  // namespace
}  // namespace lrnn
