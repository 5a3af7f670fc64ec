#include "lrnn/kernels/rms_norm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "lrnn/kernels/for_each_target.h"
#include "lrnn/kernels/test_values.h"

namespace lrnn::kernels {
namespace {

template <typename T>
class RmsNormTest : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(RmsNormTest, Types);

constexpr double kEps = 1e-5;

TYPED_TEST(RmsNormTest, OutputsAndGradientsEqualTheScalarFormInEveryTarget) {
  using T = TypeParam;
  const double epsilon = std::numeric_limits<T>::epsilon();
  ForEachTarget([&](const char* target) {
    for (int64_t D : {1, 3, 7, 8, 9, 15, 16, 17, 35, 67, 128}) {
      for (int64_t R : {1, 2, 5}) {
        SCOPED_TRACE(testing::Message() << target << " R " << R << " D " << D);
        const int64_t stride = D + 2;
        const auto x = Normals<T>(R * stride + 1, 0), weight = Normals<T>(D + 1, 1), dy = Normals<T>(R * D + 1, 2);
        auto y = Poison<T>(R * D + 1), dx = Poison<T>(R * D + 1), dweight = Poison<T>(D + 1);
        RmsNorm(x.data() + 1, stride, R, D, weight.data() + 1, static_cast<T>(kEps), y.data() + 1, 1);
        RmsNormBackward(x.data() + 1, stride, R, D, weight.data() + 1, static_cast<T>(kEps), dy.data() + 1, nullptr,
                        dx.data() + 1, dweight.data() + 1, 1);

        std::vector<double> expected_dweight(D, 0);
        for (int64_t row = 0; row < R; ++row) {
          double squares = 0, gx = 0, size = 0;
          const auto X = [&](int64_t i) { return static_cast<double>(x[1 + row * stride + i]); };
          const auto DY = [&](int64_t i) { return static_cast<double>(dy[1 + row * D + i]); };
          for (int64_t i = 0; i < D; ++i) {
            squares += X(i) * X(i);
            gx += DY(i) * weight[1 + i] * X(i);
            size += std::abs(DY(i) * weight[1 + i] * X(i));
          }
          const double r = 1 / std::sqrt(squares / D + kEps);
          for (int64_t i = 0; i < D; ++i) {
            const double u = X(i) * r, g = DY(i) * weight[1 + i];
            ASSERT_NEAR(y[1 + row * D + i], u * weight[1 + i], 16 * epsilon * std::abs(u * weight[1 + i]));
            const double scale = r * (std::abs(g) + std::abs(u) * size * r / D);
            ASSERT_NEAR(dx[1 + row * D + i], r * (g - u * gx * r / D), 16 * epsilon * scale);
            expected_dweight[i] += DY(i) * u;
          }
        }
        for (int64_t i = 0; i < D; ++i) ASSERT_NEAR(dweight[1 + i], expected_dweight[i], 64 * epsilon);
      }
    }
  });
}

TYPED_TEST(RmsNormTest, ManyBlocksOfRowsAndAnyThreadCountGiveTheSameBits) {
  using T = TypeParam;
  const int64_t R = 1501, D = 33;
  const auto x = Normals<T>(R * D, 0), weight = Normals<T>(D, 1), dy = Normals<T>(R * D, 2);
  const auto run = [&](int threads) {
    auto y = Poison<T>(R * D), dx = Poison<T>(R * D), dweight = Poison<T>(D);
    RmsNorm(x.data(), D, R, D, weight.data(), static_cast<T>(kEps), y.data(), threads);
    RmsNormBackward(x.data(), D, R, D, weight.data(), static_cast<T>(kEps), dy.data(), nullptr, dx.data(),
                    dweight.data(), threads);
    y.insert(y.end(), dx.begin(), dx.end());
    y.insert(y.end(), dweight.begin(), dweight.end());
    return y;
  };
  const auto one = run(1);
  EXPECT_EQ(one, run(2));
  EXPECT_EQ(one, run(3));
  // The last of the columns, in one plain sum.
  double expected = 0;
  for (int64_t row = 0; row < R; ++row) {
    double squares = 0;
    for (int64_t i = 0; i < D; ++i) squares += static_cast<double>(x[row * D + i]) * x[row * D + i];
    expected += dy[row * D + D - 1] * x[row * D + D - 1] / std::sqrt(squares / D + kEps);
  }
  EXPECT_NEAR(one.back(), expected, 2000 * std::numeric_limits<T>::epsilon());
}

TYPED_TEST(RmsNormTest, ASumAndItsNormAreThoseOfTwoSteps) {
  using T = TypeParam;
  ForEachTarget([&](const char* target) {
    for (int64_t D : {1, 7, 8, 19, 64}) {
      SCOPED_TRACE(testing::Message() << target << " D " << D);
      const int64_t R = 150;
      const auto x = Normals<T>(R * D, 0), residual = Normals<T>(R * D, 1), weight = Normals<T>(D, 2),
                 dy = Normals<T>(R * D, 3), dsum = Normals<T>(R * D, 4);
      auto sum = Poison<T>(R * D), y = sum, expected_y = sum, dx = sum, expected_dx = sum, dweight = Poison<T>(D),
           same_dweight = dweight;
      AddRmsNorm(x.data(), residual.data(), R, D, weight.data(), static_cast<T>(kEps), sum.data(), y.data(), 2);
      for (int64_t i = 0; i < R * D; ++i) ASSERT_EQ(sum[i], x[i] + residual[i]);
      RmsNorm(sum.data(), D, R, D, weight.data(), static_cast<T>(kEps), expected_y.data(), 1);
      ASSERT_EQ(y, expected_y);

      RmsNormBackward(sum.data(), D, R, D, weight.data(), static_cast<T>(kEps), dy.data(), dsum.data(), dx.data(),
                      dweight.data(), 2);
      RmsNormBackward(sum.data(), D, R, D, weight.data(), static_cast<T>(kEps), dy.data(), nullptr, expected_dx.data(),
                      same_dweight.data(), 1);
      // One rounding less where the compiler fuses multiplication and addition.
      const double epsilon = 4 * std::numeric_limits<T>::epsilon();
      for (int64_t i = 0; i < R * D; ++i) {
        ASSERT_NEAR(dx[i], expected_dx[i] + dsum[i], epsilon * (std::abs(expected_dx[i]) + std::abs(dsum[i])));
      }
      ASSERT_EQ(dweight, same_dweight);
    }
  });
}

TEST(RmsNorm, WithoutWeightGradient) {
  const float x[] = {3, 4}, weight[] = {1, 2}, dy[] = {1, 1};
  float dx[] = {NAN, NAN}, same[] = {NAN, NAN}, dweight[] = {NAN, NAN};
  RmsNormBackward(x, 2, 1, 2, weight, 1e-5f, dy, nullptr, dx, nullptr, 1);
  RmsNormBackward(x, 2, 1, 2, weight, 1e-5f, dy, nullptr, same, dweight, 1);
  EXPECT_EQ(dx[0], same[0]);
  EXPECT_EQ(dx[1], same[1]);
}

TEST(RmsNorm, NoRowsGiveAZeroWeightGradient) {
  const double weight[] = {1, 2};
  double dweight[] = {NAN, NAN};
  RmsNormBackward(nullptr, 2, 0, 2, weight, 1e-5, nullptr, nullptr, nullptr, dweight, 2);
  EXPECT_EQ(dweight[0], 0);
  EXPECT_EQ(dweight[1], 0);
}

}  // namespace
}  // namespace lrnn::kernels
