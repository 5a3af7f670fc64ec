#include "lrnn/ops/matrix_product.h"

#include <gtest/gtest.h>

#include "lrnn/ops/gradient_check.h"

namespace lrnn::ops {
namespace {

using torch::Tensor;

// Columns 3 .. 3 + columns of wider rows.
Tensor Apart(int64_t rows, int64_t columns, torch::Dtype type) {
  return torch::randn({rows, columns + 5}, type).slice(1, 3, 3 + columns);
}

TEST(MatrixProduct, OfRowsThatLieApart) {
  torch::manual_seed(1);
  for (torch::Dtype type : {torch::kFloat32, torch::kFloat64}) {
    for (bool transpose_a : {false, true}) {
      for (bool transpose_b : {false, true}) {
        for (const auto& [M, N, K] :
             {std::tuple{7, 5, 3}, {1, 4, 6}, {33, 1, 1}, {4, 4, 0}, {0, 3, 2}, {64, 32, 300}}) {
          SCOPED_TRACE(testing::Message() << M << ' ' << N << ' ' << K << ' ' << transpose_a << transpose_b);
          const Tensor a = transpose_a ? Apart(K, M, type) : Apart(M, K, type);
          const Tensor b = transpose_b ? Apart(N, K, type) : Apart(K, N, type);
          const Tensor product = torch::matmul(transpose_a ? a.t() : a, transpose_b ? b.t() : b);
          const Tensor c = Apart(M, N, type), before = c.clone();
          const double tolerance = type == torch::kFloat32 ? 1e-5 : 1e-13;
          MatrixProduct(transpose_a, a, transpose_b, b, c, /*adds=*/true);
          EXPECT_LE(RelativeError(c, before + product), tolerance);
          MatrixProduct(transpose_a, a, transpose_b, b, c);
          EXPECT_LE(RelativeError(c, product), tolerance);
        }
      }
    }
  }
}

TEST(MatrixProduct, LeavesWhatLiesBetweenTheRows) {
  const Tensor wide = torch::zeros({4, 10});
  MatrixProduct(false, torch::ones({4, 2}), false, torch::ones({2, 3}), wide.slice(1, 5, 8));
  EXPECT_EQ(wide.sum().item<float>(), 4 * 3 * 2);
}

}  // namespace
}  // namespace lrnn::ops
