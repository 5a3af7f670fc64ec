#include "lrnn/ops/max_plus_scan.h"

#include <gtest/gtest.h>

#include <limits>

#include "lrnn/base/message_of.h"

namespace lrnn::ops {
namespace {

using torch::Tensor;

constexpr double kNone = -std::numeric_limits<double>::infinity();

TEST(MaxPlusScan, FollowsItsEquation) {
  const Tensor a = torch::tensor({{-1.0}, {-1.0}, {kNone}, {0.0}, {-2.0}}, torch::kFloat64);
  const Tensor b = torch::tensor({{5.0}, {1.0}, {-7.0}, {kNone}, {3.0}}, torch::kFloat64);
  const auto one = MaxPlusScan(a, b, Sequences::FromLengths({4, 1}));
  EXPECT_TRUE(torch::equal(one.m, torch::tensor({{5.0}, {4.0}, {-7.0}, {-7.0}, {3.0}}, torch::kFloat64)));
  EXPECT_TRUE(torch::equal(one.before, torch::tensor({{0.0}, {5.0}, {4.0}, {-7.0}, {0.0}}, torch::kFloat64)));
  EXPECT_TRUE(torch::equal(one.final, torch::tensor({{-7.0}, {3.0}}, torch::kFloat64)));
  const auto from = MaxPlusScan(a.to(torch::kFloat32), b.to(torch::kFloat32), Sequences::FromLengths({0, 5}),
                                torch::tensor({{9.0f}, {10.0f}}));
  EXPECT_TRUE(torch::equal(from.m, torch::tensor({{9.0f}, {8.0f}, {-7.0f}, {-7.0f}, {3.0f}})));
  EXPECT_TRUE(torch::equal(from.final, torch::tensor({{9.0f}, {3.0f}})));
}

TEST(MaxPlusScan, KeepsBothGatesAtMostOne) {
  torch::manual_seed(1);
  const Tensor a = -80 * torch::rand({50, 3}), b = 160 * torch::rand({50, 3}) - 80;
  const auto scan = MaxPlusScan(a, b, Sequences::FromLengths({20, 30}));
  EXPECT_LE((a + scan.before - scan.m).max().item<float>(), 1e-5);
  EXPECT_LE((b - scan.m).max().item<float>(), 0);
}

TEST(MaxPlusScan, NamesTheWrongArgument) {
  const auto run = [](const Tensor& a, const Tensor& b, const c10::optional<Tensor>& initial = c10::nullopt) {
    return MessageOf([&] { MaxPlusScan(a, b, Sequences::FromLengths({3, 4}), initial); });
  };
  EXPECT_EQ(run(torch::zeros({6, 2}), torch::zeros({6, 2})),
            "[max_plus_scan] expected a of shape [T, H] with T = 7, got [6, 2]");
  EXPECT_EQ(run(torch::zeros({7, 2}), torch::zeros({7, 3})),
            "[max_plus_scan] expected b of shape [T, H] = [7, 2], got [7, 3]");
  EXPECT_EQ(run(torch::zeros({7, 2}), torch::zeros({7, 2}), torch::zeros({3, 2})),
            "[max_plus_scan] expected initial of shape [N, H] = [2, 2], got [3, 2]");
}

}  // namespace
}  // namespace lrnn::ops
