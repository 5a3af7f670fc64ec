#include "lrnn/kernels/cross_entropy.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "lrnn/base/rng.h"
#include "lrnn/kernels/for_each_target.h"

namespace lrnn::kernels {
namespace {

template <typename T>
class CrossEntropyTest : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(CrossEntropyTest, Types);

template <typename T>
struct Problem {
  Problem(int64_t R, int64_t V, double spread) : R(R), V(V) {
    Rng rng(6, 0);
    for (int64_t i = 0; i < R * V; ++i) logits.push_back(static_cast<T>(spread * rng.Normal()));
    for (int64_t row = 0; row < R; ++row) targets.push_back(rng.Between(0, V - 1));
    losses.assign(R, std::numeric_limits<T>::quiet_NaN());
    dlogits.assign(R * V, std::numeric_limits<T>::quiet_NaN());
  }
  void Run(int threads, bool gradient = true, double smoothing = 0) {
    CrossEntropy(logits.data(), targets.data(), R, V, static_cast<T>(smoothing), static_cast<T>(0.5), losses.data(),
                 gradient ? dlogits.data() : nullptr, threads);
  }
  int64_t R, V;
  std::vector<int64_t> targets;
  std::vector<T> logits, losses, dlogits;
};

TYPED_TEST(CrossEntropyTest, LossAndGradientEqualTheScalarFormInEveryTarget) {
  using T = TypeParam;
  const double epsilon = 16 * std::numeric_limits<T>::epsilon();
  ForEachTarget([&](const char* target) {
    for (int64_t V : {1, 2, 7, 8, 9, 31, 122}) {
      for (const auto& [spread, smoothing] : {std::pair{0.0, 0.0}, {1.0, 0.0}, {60.0, 0.0}, {1.0, 0.25}, {60.0, 0.5}}) {
        SCOPED_TRACE(testing::Message() << target << " V " << V << " spread " << spread << " smoothing " << smoothing);
        Problem<T> p(4, V, spread);
        p.Run(1, true, smoothing);
        for (int64_t row = 0; row < p.R; ++row) {
          double top = -1e300, sum = 0, mean = 0;
          const auto X = [&](int64_t v) { return static_cast<double>(p.logits[row * V + v]); };
          for (int64_t v = 0; v < V; ++v) top = std::max(top, X(v));
          for (int64_t v = 0; v < V; ++v) sum += std::exp(X(v) - top);
          for (int64_t v = 0; v < V; ++v) mean += X(v) / static_cast<double>(V);
          const double loss = std::log(sum) + top - (1 - smoothing) * X(p.targets[row]) - smoothing * mean;
          ASSERT_NEAR(p.losses[row], loss, epsilon * (1 + std::abs(top) + std::abs(X(p.targets[row]))));
          for (int64_t v = 0; v < V; ++v) {
            const double wanted = (1 - smoothing) * (v == p.targets[row]) + smoothing / static_cast<double>(V);
            const double expected = 0.5 * (std::exp(X(v) - top) / sum - wanted);
            ASSERT_NEAR(p.dlogits[row * V + v], expected, epsilon * (1 + std::abs(X(v) - top)));
          }
        }
        const auto losses = p.losses;
        p.Run(1, /*gradient=*/false, smoothing);
        EXPECT_EQ(losses, p.losses);
      }
    }
  });
}

TYPED_TEST(CrossEntropyTest, AnyThreadCountGivesTheSameBits) {
  Problem<TypeParam> one(700, 122, 1), three(700, 122, 1);
  one.Run(1);
  three.Run(3);
  EXPECT_EQ(one.losses, three.losses);
  EXPECT_EQ(one.dlogits, three.dlogits);
}

TYPED_TEST(CrossEntropyTest, AnImpossibleClassIsNoNanWithoutSmoothing) {
  Problem<TypeParam> p(1, 5, 1);
  p.targets = {0};
  p.logits[4] = -std::numeric_limits<TypeParam>::infinity();
  p.Run(1);
  EXPECT_TRUE(std::isfinite(p.losses[0]));
  EXPECT_EQ(p.dlogits[4], 0);
}

TYPED_TEST(CrossEntropyTest, OneNanMakesTheLossOfItsRowNan) {
  ForEachTarget([&](const char* target) {
    SCOPED_TRACE(target);
    for (int64_t place : {0, 5, 16}) {  // in a vector, and behind the last one
      Problem<TypeParam> p(2, 17, 1);
      p.targets = {3, 3};
      p.logits[place] = std::numeric_limits<TypeParam>::quiet_NaN();
      p.Run(1);
      EXPECT_TRUE(std::isnan(p.losses[0])) << place;
      EXPECT_TRUE(std::isfinite(p.losses[1])) << place;
    }
  });
}

}  // namespace
}  // namespace lrnn::kernels
