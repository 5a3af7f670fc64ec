#include "lrnn/ops/rotate_pairs.h"

#include <gtest/gtest.h>

#include <cmath>

#include "lrnn/base/message_of.h"
#include "lrnn/ops/gradient_check.h"

namespace lrnn::ops {
namespace {

using torch::Tensor;

TEST(RotatePairs, TurnsEachPlane) {
  const Tensor x = torch::tensor({1.0, 0.0, 0.0, 2.0}, torch::kFloat64).view({1, 1, 4});
  const Tensor angles = torch::tensor({M_PI / 2, M_PI / 6}, torch::kFloat64).view({1, 1, 2});
  // (1, 0) by a right angle, (0, 2) by 30 degrees
  const Tensor expected = torch::tensor({0.0, -1.0, 1.0, std::sqrt(3.0)}, torch::kFloat64).view({1, 1, 4});
  EXPECT_LT(RelativeError(RotatePairs(x, angles), expected), 1e-15);
}

TEST(RotatePairs, AddsAnglesAndKeepsLengths) {
  torch::manual_seed(1);
  const Tensor x = torch::randn({5, 3, 8, 2}, torch::kFloat64);
  const Tensor a = torch::randn({5, 3, 4}, torch::kFloat64), b = torch::randn({5, 1, 4}, torch::kFloat64);
  EXPECT_LT(RelativeError(RotatePairs(RotatePairs(x, a), b), RotatePairs(x, a + b)), 1e-14);
  EXPECT_LT(RelativeError(RotatePairs(x, a).norm(2, 2), x.norm(2, 2)), 1e-14);
  ExpectFiniteDifferences(
      [](const std::vector<Tensor>& in) -> std::vector<Tensor> { return {RotatePairs(in[0], in[1])}; },
      {x.slice(0, 0, 2), a.slice(0, 0, 2)});
}

// What rotary embeddings are for: products of rotated rows depend on the distance of their positions alone.
TEST(RotaryAngles, ProductsDependOnTheDistance) {
  torch::manual_seed(1);
  const Tensor q = torch::randn({1, 1, 6}, torch::kFloat64), k = torch::randn({1, 1, 6}, torch::kFloat64);
  const auto at = [](const Tensor& x, int64_t position) {
    return RotatePairs(x, RotaryAngles(torch::tensor({position}, torch::kInt64), 6, 10000));
  };
  const double near = (at(q, 7) * at(k, 4)).sum().item<double>(),
               far = (at(q, 100007) * at(k, 100004)).sum().item<double>();
  EXPECT_NEAR(near, far, 1e-9);
  EXPECT_GT(std::abs(near - (at(q, 7) * at(k, 3)).sum().item<double>()), 1e-3);
  const Tensor angles = RotaryAngles(torch::tensor({0, 2}, torch::kInt64), 4, 100);
  EXPECT_LT(RelativeError(angles, torch::tensor({0.0, 0.0, 2.0, 0.2}, torch::kFloat64).view({2, 1, 2})), 1e-15);
}

TEST(Positions, CountFromTheStartOfEachSequence) {
  const auto sequences = Sequences::FromLengths({2, 0, 3});
  EXPECT_TRUE(torch::equal(Positions(sequences), torch::tensor({0, 1, 0, 1, 2}, torch::kInt64)));
  const Tensor first = torch::tensor({10, 20, 30}, torch::kInt64);
  EXPECT_TRUE(torch::equal(Positions(sequences, first), torch::tensor({10, 11, 30, 31, 32}, torch::kInt64)));
}

TEST(RotatePairs, NamesTheWrongArgument) {
  EXPECT_EQ(MessageOf([] {
              RotatePairs(torch::zeros({2, 1, 3}), torch::zeros({2, 1, 1}));
            }),
            "[rotate_pairs] expected x of shape [T, H, K] with an even K, got [2, 1, 3]");
  EXPECT_EQ(MessageOf([] {
              RotatePairs(torch::zeros({2, 4, 6}), torch::zeros({2, 2, 3}));
            }),
            "[rotate_pairs] expected angles of shape [T, 1 or H, K/2] = [2, 1 or 4, 3], got [2, 2, 3]");
}

}  // namespace
}  // namespace lrnn::ops
