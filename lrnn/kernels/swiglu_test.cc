#include "lrnn/kernels/swiglu.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
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

// Rounded to the nearest, to the even one of two in the middle.
hwy::bfloat16_t Bf16(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  bits += 0x7FFF + (bits >> 16 & 1);
  return {static_cast<uint16_t>(bits >> 16)};
}

float Float(hwy::bfloat16_t x) {
  const uint32_t bits = uint32_t{x.bits} << 16;
  float f;
  std::memcpy(&f, &bits, sizeof f);
  return f;
}

// Not the scalar form, whose last bits differ, but what fp32 makes of the same numbers in the same target.
TEST(SwiGlu, Bf16IsFp32OfRoundedNumbersRounded) {
  ForEachTarget([&](const char* target) {
    for (int64_t D : {1, 7, 8, 9, 16, 33}) {
      SCOPED_TRACE(testing::Message() << target << " D " << D);
      const int64_t R = 3;
      Problem<float> p(R, D);
      std::vector<hwy::bfloat16_t> gate_up, dy, y(R * D), dgate_up(R * 2 * D);
      for (float& x : p.gate_up) gate_up.push_back(Bf16(x)), x = Float(gate_up.back());
      for (float& x : p.dy) dy.push_back(Bf16(x)), x = Float(dy.back());
      p.Run(1);
      SwiGlu(gate_up.data(), R, D, y.data(), 1);
      SwiGluBackward(gate_up.data(), R, D, dy.data(), dgate_up.data(), 1);
      for (int64_t i = 0; i < R * D; ++i) ASSERT_EQ(y[i].bits, Bf16(p.y[i]).bits);
      for (int64_t i = 0; i < R * 2 * D; ++i) ASSERT_EQ(dgate_up[i].bits, Bf16(p.dgate_up[i]).bits);
    }
  });
}

TEST(SwiGlu, Bf16HandsNanOn) {
  const std::vector<hwy::bfloat16_t> gate_up = {{0x7FFF}, Bf16(1)}, dy = {Bf16(1)};
  std::vector<hwy::bfloat16_t> y(1), dgate_up(2);
  SwiGlu(gate_up.data(), 1, 1, y.data(), 1);
  SwiGluBackward(gate_up.data(), 1, 1, dy.data(), dgate_up.data(), 1);
  EXPECT_TRUE(std::isnan(Float(y[0])));
  EXPECT_TRUE(std::isnan(Float(dgate_up[0])));
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
