#include "lrnn/kernels/block_diagonal.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "lrnn/kernels/for_each_target.h"
#include "lrnn/kernels/misaligned.h"
#include "lrnn/kernels/test_values.h"

namespace lrnn::kernels {
namespace {

template <typename T>
class BlockDiagonalTest : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(BlockDiagonalTest, Types);

TYPED_TEST(BlockDiagonalTest, OutputsAndGradientsEqualTheScalarFormInEveryTarget) {
  using T = TypeParam;
  const double tolerance = 64 * std::numeric_limits<T>::epsilon();
  // Blocks that fit a vector and such that do not, columns left over, rows of several tiles.
  for (const BlockDiagonalShape shape : {BlockDiagonalShape{0, 2, 4},
                                         {1, 1, 1},
                                         {3, 1, 4},
                                         {9, 64, 4},
                                         {7, 5, 2},
                                         {8, 3, 8},
                                         {5, 3, 3},
                                         {17, 2, 16},
                                         {2, 3, 17},
                                         {1030, 5, 4}}) {
    const int64_t n = shape.size, D = shape.width();
    const auto x = Normals<double>(shape.rows * D, 0), dy = Normals<double>(shape.rows * D, 1);
    const auto W = Normals<double>(D * n, 2);
    std::vector<double> y(shape.rows * D), dx(shape.rows * D), dW(D * n);
    for (int64_t row = 0; row < shape.rows; ++row) {
      for (int64_t b = 0; b < shape.blocks; ++b) {
        for (int64_t out = 0; out < n; ++out) {
          for (int64_t in = 0; in < n; ++in) {
            const int64_t weight = (b * n + out) * n + in, from = row * D + b * n + in, to = row * D + b * n + out;
            y[to] += W[weight] * x[from];
            dx[from] += W[weight] * dy[to];
            dW[weight] += dy[to] * x[from];
          }
        }
      }
    }
    ForEachTarget([&](const char* target) {
      SCOPED_TRACE(testing::Message() << target << ": " << shape.rows << " rows of " << shape.blocks << " x " << n);
      Misaligned<T> x_in(x), dy_in(dy), W_in(W), y_out(y.size()), dx_out(dx.size()), dW_out(dW.size());
      BlockDiagonal(shape, x_in.data(), W_in.data(), y_out.data(), 1);
      BlockDiagonalBackward(shape, x_in.data(), W_in.data(), dy_in.data(), dx_out.data(), dW_out.data(), 1);
      ExpectNear(y_out, y, tolerance, "y");
      ExpectNear(dx_out, dx, tolerance, "dx");
      ExpectNear(dW_out, dW, tolerance, "dW");
      Misaligned<T> dW_alone(dW.size());
      BlockDiagonalBackward(shape, x_in.data(), W_in.data(), dy_in.data(), nullptr, dW_alone.data(), 1);
      ExpectNear(dW_alone, dW, tolerance, "dW without dx");
    });
  }
}

TYPED_TEST(BlockDiagonalTest, ThreadsDoNotChangeABit) {
  using T = TypeParam;
  const BlockDiagonalShape shape{2001, 9, 4};
  const int64_t elements = shape.rows * shape.width(), weights = shape.width() * shape.size;
  const auto x = Normals<T>(elements, 0), dy = Normals<T>(elements, 1), W = Normals<T>(weights, 2);
  const auto run = [&](int threads) {
    auto y = Poison<T>(elements), dx = Poison<T>(elements), dW = Poison<T>(weights);
    BlockDiagonal(shape, x.data(), W.data(), y.data(), threads);
    BlockDiagonalBackward(shape, x.data(), W.data(), dy.data(), dx.data(), dW.data(), threads);
    y.insert(y.end(), dx.begin(), dx.end());
    y.insert(y.end(), dW.begin(), dW.end());
    return y;
  };
  EXPECT_EQ(run(1), run(2));
}

}  // namespace
}  // namespace lrnn::kernels
