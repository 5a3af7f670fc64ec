#include "lrnn/kernels/l2_norm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "lrnn/kernels/for_each_target.h"
#include "lrnn/kernels/test_values.h"

namespace lrnn::kernels {
namespace {

template <typename T>
class L2NormTest : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(L2NormTest, Types);

TYPED_TEST(L2NormTest, OutputsAndGradientsEqualTheScalarFormInEveryTarget) {
  using T = TypeParam;
  const double epsilon = std::numeric_limits<T>::epsilon();
  const double eps = 1e-6;
  ForEachTarget([&](const char* target) {
    for (int64_t D : {1, 3, 7, 8, 9, 15, 16, 17, 35, 67, 128}) {
      for (int64_t outer : {1, 3}) {
        for (int64_t inner : {1, 2}) {
          SCOPED_TRACE(testing::Message() << target << " outer " << outer << " inner " << inner << " D " << D);
          // `inner` heads of width D, one column of something else between them, three at the end of each row.
          const int64_t inner_stride = D + 1, outer_stride = inner * inner_stride + 3, R = outer * inner;
          const auto x = Normals<T>(outer * outer_stride + 1, 0), dy = Normals<T>(R * D + 1, 1);
          auto y = Poison<T>(R * D + 1), dx = Poison<T>(R * D + 1);
          const StridedRows<T> rows = {x.data() + 1, outer, inner, outer_stride, inner_stride};
          L2Norm(rows, D, static_cast<T>(eps), y.data() + 1, 1);
          L2NormBackward(rows, D, static_cast<T>(eps), dy.data() + 1, dx.data() + 1, 1);
          for (int64_t row = 0; row < R; ++row) {
            const T* xr = x.data() + 1 + (row / inner) * outer_stride + (row % inner) * inner_stride;
            const T* dyr = dy.data() + 1 + row * D;
            double squares = 0, dot = 0, size = 0;
            for (int64_t i = 0; i < D; ++i) {
              squares += static_cast<double>(xr[i]) * xr[i];
              dot += static_cast<double>(xr[i]) * dyr[i];
              size += std::abs(static_cast<double>(xr[i]) * dyr[i]);
            }
            const double r = 1 / std::sqrt(squares + eps);
            for (int64_t i = 0; i < D; ++i) {
              ASSERT_NEAR(y[1 + row * D + i], xr[i] * r, 16 * epsilon * std::abs(xr[i] * r));
              const double scale = r * (std::abs(dyr[i]) + std::abs(xr[i]) * r * r * size);
              ASSERT_NEAR(dx[1 + row * D + i], r * (dyr[i] - xr[i] * r * r * dot), 16 * epsilon * scale);
            }
          }
        }
      }
    }
  });
}

TYPED_TEST(L2NormTest, ZeroRowsGiveZerosAndFiniteGradients) {
  using T = TypeParam;
  const int64_t D = 19;
  const std::vector<T> x(D, 0), dy(D, 1);
  ForEachTarget([&](const char* target) {
    SCOPED_TRACE(target);
    for (T eps : {T{0}, T{1e-30}, T{1e-6}}) {  // eps^(-3/2) is infinite in float for the second
      auto y = Poison<T>(D), dx = Poison<T>(D);
      const auto rows = StridedRows<T>::Contiguous(x.data(), 1, D);
      L2Norm(rows, D, eps, y.data(), 1);
      L2NormBackward(rows, D, eps, dy.data(), dx.data(), 1);
      const double expected = eps > 0 ? 1 / std::sqrt(static_cast<double>(eps)) : 0;
      for (int64_t i = 0; i < D; ++i) {
        EXPECT_EQ(y[i], 0);
        EXPECT_NEAR(dx[i], expected, 4 * std::numeric_limits<T>::epsilon() * expected);
      }
    }
  });
}

TYPED_TEST(L2NormTest, NanStaysNan) {
  using T = TypeParam;
  const std::vector<T> x = {1, std::numeric_limits<T>::quiet_NaN(), 2};
  std::vector<T> y(3, 0);
  L2Norm(StridedRows<T>::Contiguous(x.data(), 1, 3), 3, T{1e-6}, y.data(), 1);
  for (T value : y) EXPECT_TRUE(std::isnan(value));
}

TYPED_TEST(L2NormTest, ThreadsDoNotChangeABit) {
  using T = TypeParam;
  const int64_t R = 2001, D = 33;
  const auto x = Normals<T>(R * D, 0), dy = Normals<T>(R * D, 1);
  const auto run = [&](int threads) {
    auto y = Poison<T>(R * D), dx = Poison<T>(R * D);
    const auto rows = StridedRows<T>::Contiguous(x.data(), R, D);
    L2Norm(rows, D, T{1e-6}, y.data(), threads);
    L2NormBackward(rows, D, T{1e-6}, dy.data(), dx.data(), threads);
    y.insert(y.end(), dx.begin(), dx.end());
    return y;
  };
  EXPECT_EQ(run(1), run(2));
}

}  // namespace
}  // namespace lrnn::kernels
