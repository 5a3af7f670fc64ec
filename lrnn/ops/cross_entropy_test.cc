#include "lrnn/ops/cross_entropy.h"

#include <gtest/gtest.h>

#include "lrnn/base/message_of.h"
#include "lrnn/ops/op_contract.h"

namespace lrnn::ops {
namespace {

using torch::Tensor;
using Form = Tensor (*)(const Tensor&, const Tensor&);

TensorFunction Bind(Form form, const Tensor& targets) {
  return [=](const std::vector<Tensor>& in) -> std::vector<Tensor> { return {3 * form(in[0], targets)}; };
}

TEST(CrossEntropy, EqualsReference) {
  torch::manual_seed(1);
  for (const auto& [R, V] : {std::pair<int64_t, int64_t>{1, 1}, {5, 2}, {40, 13}, {700, 122}}) {
    SCOPED_TRACE(R);
    const Tensor targets = torch::randint(V, {R}, torch::kInt64);
    const Tensor logits = 3 * torch::randn({R, V}, torch::kFloat64);
    ExpectSameFunction(Bind(CrossEntropy, targets), Bind(CrossEntropyReference, targets), {logits}, 1e-13);
    ExpectSameFunction(Bind(CrossEntropy, targets), Bind(CrossEntropyReference, targets), {logits.to(torch::kFloat32)},
                       2e-6);
  }
}

TEST(CrossEntropy, WithoutGradientGivesTheSameLoss) {
  torch::manual_seed(2);
  const Tensor logits = torch::randn({9, 5}), targets = torch::randint(5, {9}, torch::kInt64);
  const Tensor with = CrossEntropy(logits.clone().requires_grad_(), targets);
  EXPECT_TRUE(torch::equal(CrossEntropy(logits, targets), with.detach()));
}

TEST(CrossEntropy, FiniteDifferences) {
  torch::manual_seed(3);
  const Tensor targets = torch::tensor({2, 0, 1}, torch::kInt64);
  ExpectFiniteDifferences(Bind(CrossEntropy, targets), {torch::randn({3, 4}, torch::kFloat64)});
}

TEST(CrossEntropy, RefusesWrongArguments) {
  const Tensor logits = torch::zeros({2, 3}), targets = torch::zeros({2}, torch::kInt64);
  for (Form form : {Form{CrossEntropy}, Form{CrossEntropyReference}}) {
    EXPECT_EQ(MessageOf([&] {
                form(torch::zeros({0, 3}), targets);
              }),
              "[cross_entropy] expected logits of shape [R, V], not empty, and a floating type, got [0, 3] of Float");
    EXPECT_EQ(MessageOf([&] { form(logits, torch::zeros({3}, torch::kInt64)); }),
              "[cross_entropy] expected targets of shape [2] and type Long, got [3] of Long");
    EXPECT_EQ(MessageOf([&] { form(logits, torch::zeros({2})); }),
              "[cross_entropy] expected targets of shape [2] and type Long, got [2] of Float");
  }
  EXPECT_EQ(MessageOf([&] { CrossEntropy(logits, targets + 3); }),
            "[cross_entropy] expected targets in 0 .. 2, got 3 .. 3");
  EXPECT_EQ(MessageOf([&] { CrossEntropy(logits, targets - 1); }),
            "[cross_entropy] expected targets in 0 .. 2, got -1 .. -1");
}

TEST(CrossEntropy, FusedDifferentiatesOnce) {
  torch::manual_seed(1);
  const Tensor targets = torch::tensor({2, 0});
  ExpectFusedDifferentiatesOnce(Bind(CrossEntropy, targets), Bind(CrossEntropyReference, targets),
                                {torch::randn({2, 3}, torch::kFloat64)}, "cross_entropy", "CrossEntropyReference");
}

}  // namespace
}  // namespace lrnn::ops
