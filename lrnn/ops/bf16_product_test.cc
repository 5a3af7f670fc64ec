#include "lrnn/ops/bf16_product.h"

#include <gtest/gtest.h>

namespace lrnn::ops {
namespace {

using torch::Tensor;

// Of small integers, whose sums are exact.
TEST(Bf16Product, EqualsMatmul) {
  if (!HasBf16Products()) GTEST_SKIP() << "this CPU has no instructions for products of bf16 numbers";
  torch::manual_seed(1);
  struct Shape {
    int64_t M, N, K;
  };
  for (const Shape& s : {Shape{1, 1, 1}, {5, 3, 7}, {33, 130, 20}}) {
    for (const bool transpose_a : {false, true}) {
      for (const bool transpose_b : {false, true}) {
        const Tensor a = torch::randint(-3, 4, {s.M, s.K}, torch::kFloat32);
        const Tensor b = torch::randint(-3, 4, {s.K, s.N}, torch::kFloat32);
        const auto operand = [](const Tensor& x, bool transposed) {
          return (transposed ? x.t() : x).contiguous().to(torch::kBFloat16);
        };
        for (const auto type : {torch::kBFloat16, torch::kFloat32}) {
          const Tensor c = torch::full({s.M, s.N}, NAN, type);
          Bf16Product(transpose_a, operand(a, transpose_a), transpose_b, operand(b, transpose_b), c);
          EXPECT_TRUE(torch::equal(c.to(torch::kFloat32), a.matmul(b)));
          Bf16Product(transpose_a, operand(a, transpose_a), transpose_b, operand(b, transpose_b), c, /*adds=*/true);
          EXPECT_TRUE(torch::equal(c.to(torch::kFloat32), 2 * a.matmul(b)));
        }
      }
    }
  }
}

}  // namespace
}  // namespace lrnn::ops
