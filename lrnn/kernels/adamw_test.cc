#include "lrnn/kernels/adamw.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "lrnn/base/rng.h"
#include "lrnn/kernels/for_each_target.h"

namespace lrnn::kernels {
namespace {

template <typename T>
class AdamWTest : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(AdamWTest, Types);

template <typename T>
std::vector<T> Normals(int64_t n, uint64_t stream) {
  Rng rng(11, stream);
  std::vector<T> values(n);
  for (T& value : values) value = static_cast<T>(rng.Normal());
  return values;
}

// torch.optim.AdamW, one element.
struct Element {
  double p, m = 0, v = 0;

  void Step(const AdamWOptions& o, int step, double g) {
    g *= o.gradient_scale;
    p *= 1 - o.lr * o.weight_decay;
    m = o.beta1 * m + (1 - o.beta1) * g;
    v = o.beta2 * v + (1 - o.beta2) * g * g;
    const double denominator = std::sqrt(v) / std::sqrt(1 - std::pow(o.beta2, step)) + o.eps;
    p -= o.lr / (1 - std::pow(o.beta1, step)) * m / denominator;
  }
};

TYPED_TEST(AdamWTest, FiveStepsEqualTheScalarFormInEveryTarget) {
  using T = TypeParam;
  const AdamWOptions options = {
      .lr = 0.03, .beta1 = 0.9, .beta2 = 0.95, .eps = 1e-6, .weight_decay = 0.1, .gradient_scale = 0.3};
  ForEachTarget([&](const char* target) {
    for (int64_t n : {1, 3, 7, 8, 9, 15, 16, 17, 67}) {
      SCOPED_TRACE(testing::Message() << target << " n " << n);
      auto p = Normals<T>(n + 1, 0);
      std::vector<T> m(n + 1, 0), v(n + 1, 0);
      std::vector<Element> expected;
      for (const T& value : p) expected.push_back({.p = value});
      for (int step = 1; step <= 5; ++step) {
        const auto g = Normals<T>(n + 1, step);
        AdamW(options, step, g.data() + 1, p.data() + 1, m.data() + 1, v.data() + 1, n, 1);
        for (int64_t i = 1; i <= n; ++i) expected[i].Step(options, step, g[i]);
      }
      const double tolerance = 32 * std::numeric_limits<T>::epsilon();
      for (int64_t i = 1; i <= n; ++i) {
        ASSERT_NEAR(p[i], expected[i].p, tolerance * (1 + std::abs(expected[i].p)));
        ASSERT_NEAR(m[i], expected[i].m, tolerance);
        ASSERT_NEAR(v[i], expected[i].v, tolerance);
      }
      EXPECT_EQ(m[0], 0) << "wrote before the parameter";
    }
  });
}

TEST(AdamW, FirstStepMovesByTheLearningRateAndDecaysFirst) {
  const double g = 1e-3;
  double p = 2, m = 0, v = 0;
  AdamW({.lr = 0.1, .eps = 0, .weight_decay = 0.5}, 1, &g, &p, &m, &v, 1, 1);
  EXPECT_NEAR(p, 2 * (1 - 0.1 * 0.5) - 0.1, 1e-12);
}

TEST(AdamW, NoGradientNoMotion) {
  const float g = 0;
  float p = 2, m = 0, v = 0;
  AdamW({.weight_decay = 0}, 1, &g, &p, &m, &v, 1, 1);
  EXPECT_EQ(p, 2);
}

TYPED_TEST(AdamWTest, ThreadsDoNotChangeABit) {
  using T = TypeParam;
  const int64_t n = 200001;  // several blocks
  const auto g = Normals<T>(n, 1);
  auto p1 = Normals<T>(n, 0), p2 = p1;
  std::vector<T> m1(n, 0), v1(n, 0), m2(n, 0), v2(n, 0);
  AdamW({}, 1, g.data(), p1.data(), m1.data(), v1.data(), n, 1);
  AdamW({}, 1, g.data(), p2.data(), m2.data(), v2.data(), n, 2);
  EXPECT_EQ(p1, p2);
  EXPECT_EQ(m1, m2);
  EXPECT_EQ(v1, v2);
}

}  // namespace
}  // namespace lrnn::kernels
