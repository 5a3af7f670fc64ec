#include "lrnn/ops/cross_entropy.h"

#include <gtest/gtest.h>

#include "lrnn/base/message_of.h"
#include "lrnn/ops/op_contract.h"

namespace lrnn::ops {
namespace {

using torch::Tensor;
using Form = Tensor (*)(const Tensor&, const Tensor&, double);

TensorFunction Bind(Form form, const Tensor& targets, double smoothing = 0) {
  return [=](const std::vector<Tensor>& in) -> std::vector<Tensor> { return {3 * form(in[0], targets, smoothing)}; };
}

TEST(CrossEntropy, EqualsReference) {
  torch::manual_seed(1);
  for (const auto& [R, V] : {std::pair<int64_t, int64_t>{1, 1}, {5, 2}, {40, 13}, {700, 122}}) {
    SCOPED_TRACE(R);
    const Tensor targets = torch::randint(V, {R}, torch::kInt64);
    const Tensor logits = 3 * torch::randn({R, V}, torch::kFloat64);
    for (double smoothing : {0.0, 0.1}) {
      const auto fused = Bind(CrossEntropy, targets, smoothing);
      const auto reference = Bind(CrossEntropyReference, targets, smoothing);
      ExpectSameFunction(fused, reference, {logits}, 1e-13);
      ExpectSameFunction(fused, reference, {logits.to(torch::kFloat32)}, 2e-6);
    }
  }
}

TEST(CrossEntropy, WithoutGradientGivesTheSameLoss) {
  torch::manual_seed(2);
  const Tensor logits = torch::randn({9, 5}), targets = torch::randint(5, {9}, torch::kInt64);
  const Tensor with = CrossEntropy(logits.clone().requires_grad_(), targets);
  EXPECT_TRUE(torch::equal(CrossEntropy(logits, targets), with.detach()));
}

// Where softmax is the distribution that is asked for, the loss is the least and its gradient is zero.
TEST(CrossEntropy, LeastWhereSoftmaxIsTheSmoothedDistribution) {
  EXPECT_EQ(LeastCrossEntropy(0, 7), 0);
  const double smoothing = 0.2;
  const Tensor wanted = torch::tensor({0.05, 0.85, 0.05, 0.05}, torch::kFloat64).view({1, 4});
  Tensor logits = torch::log(wanted).requires_grad_();
  const Tensor loss = CrossEntropy(logits, torch::tensor({1}), smoothing);
  loss.backward();
  EXPECT_NEAR(loss.item<double>(), LeastCrossEntropy(smoothing, 4), 1e-14);
  EXPECT_LT(logits.grad().abs().max().item<double>(), 1e-15);
}

TEST(CrossEntropy, FiniteDifferences) {
  torch::manual_seed(3);
  const Tensor targets = torch::tensor({2, 0, 1}, torch::kInt64);
  ExpectFiniteDifferences(Bind(CrossEntropy, targets, 0.3), {torch::randn({3, 4}, torch::kFloat64)});
}

TEST(CrossEntropy, RefusesWrongArguments) {
  const Tensor logits = torch::zeros({2, 3}), targets = torch::zeros({2}, torch::kInt64);
  for (Form form : {Form{CrossEntropy}, Form{CrossEntropyReference}}) {
    EXPECT_EQ(MessageOf([&] {
                form(torch::zeros({0, 3}), targets, 0);
              }),
              "[cross_entropy] expected logits of shape [R, V], not empty, and a floating type, got [0, 3] of Float");
    EXPECT_EQ(MessageOf([&] { form(logits, torch::zeros({3}, torch::kInt64), 0); }),
              "[cross_entropy] expected targets of shape [2] and type Long, got [3] of Long");
    EXPECT_EQ(MessageOf([&] { form(logits, torch::zeros({2}), 0); }),
              "[cross_entropy] expected targets of shape [2] and type Long, got [2] of Float");
    EXPECT_EQ(MessageOf([&] { form(logits, targets, 1); }), "[cross_entropy] expected smoothing in [0, 1), got 1");
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
