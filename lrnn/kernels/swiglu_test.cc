#include "lrnn/kernels/swiglu.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "lrnn/base/rng.h"
#include "lrnn/kernels/for_each_target.h"

namespace lrnn::kernels {
namespace {

template <typename T>
class SwiGluTest : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(SwiGluTest, Types);

template <typename T>
struct Problem {
  Problem(int64_t R, int64_t D) : R(R), D(D) {
    Rng rng(5, 0);
    for (int64_t i = 0; i < R * 2 * D; ++i) gate_up.push_back(static_cast<T>(4 * rng.Normal()));
    for (int64_t i = 0; i < R * D; ++i) dy.push_back(static_cast<T>(rng.Normal()));
    y.assign(R * D, std::numeric_limits<T>::quiet_NaN());
    dgate_up.assign(R * 2 * D, std::numeric_limits<T>::quiet_NaN());
  }
  void Run(int threads) {
    SwiGlu(gate_up.data(), R, D, y.data(), threads);
    SwiGluBackward(gate_up.data(), R, D, dy.data(), dgate_up.data(), threads);
  }
  int64_t R, D;
  std::vector<T> gate_up, dy, y, dgate_up;
};

TYPED_TEST(SwiGluTest, OutputsAndGradientsEqualTheScalarFormInEveryTarget) {
  using T = TypeParam;
  const double epsilon = 8 * std::numeric_limits<T>::epsilon();
  ForEachTarget([&](const char* target) {
    for (int64_t D : {1, 7, 8, 9, 16, 33}) {
      SCOPED_TRACE(testing::Message() << target << " D " << D);
      Problem<T> p(3, D);
      p.gate_up[0] = 80, p.gate_up[2 * D] = -80, p.gate_up[4 * D] = 0;
      p.Run(1);
      for (int64_t row = 0; row < 3; ++row) {
        for (int64_t i = 0; i < D; ++i) {
          const double g = p.gate_up[row * 2 * D + i], u = p.gate_up[row * 2 * D + D + i], dy = p.dy[row * D + i];
          const double s = 1 / (1 + std::exp(-g));
          // silu'(g) is a difference: its error is that of its terms.
          const double slope = s + g * s * (1 - s), slope_size = s + std::abs(g) * s * (1 - s);
          ASSERT_NEAR(p.y[row * D + i], g * s * u, epsilon * std::abs(g * s * u));
          ASSERT_NEAR(p.dgate_up[row * 2 * D + i], dy * u * slope, epsilon * std::abs(dy * u) * slope_size);
          ASSERT_NEAR(p.dgate_up[row * 2 * D + D + i], dy * g * s, epsilon * std::abs(dy * g * s));
        }
      }
    }
  });
}

TYPED_TEST(SwiGluTest, AnyThreadCountGivesTheSameBits) {
  Problem<TypeParam> one(301, 130), three(301, 130);
  one.Run(1);
  three.Run(3);
  EXPECT_EQ(one.y, three.y);
  EXPECT_EQ(one.dgate_up, three.dgate_up);
}

TEST(SwiGlu, NanIsHandedOn) {
  Problem<float> p(1, 8);
  p.gate_up[3] = NAN;
  p.Run(1);
  EXPECT_TRUE(std::isnan(p.y[3]));
  EXPECT_TRUE(std::isnan(p.dgate_up[3]));
}

}  // namespace
}  // namespace lrnn::kernels
