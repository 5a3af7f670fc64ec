#include "lrnn/ops/linear.h"

#include <gtest/gtest.h>

#include "lrnn/base/message_of.h"
#include "lrnn/ops/bf16_product.h"
#include "lrnn/ops/gradient_check.h"

namespace lrnn::ops {
namespace {

using torch::Tensor;

TensorFunction Bind(Tensor (*form)(const Tensor&, const Tensor&, const Tensor&)) {
  return [form](const std::vector<Tensor>& in) -> std::vector<Tensor> {
    return {form(in[0], in[1], in.size() > 2 ? in[2] : Tensor())};
  };
}

Tensor Ours(const Tensor& x, const Tensor& weight, const Tensor& bias) { return Linear(x, weight, bias); }
Tensor Torch(const Tensor& x, const Tensor& weight, const Tensor& bias) { return torch::linear(x, weight, bias); }

std::vector<Tensor> RandomInputs(std::vector<int64_t> shape, int64_t out, bool has_bias, torch::Dtype dtype) {
  torch::manual_seed(1);
  std::vector<Tensor> in{torch::randn(shape, dtype), torch::randn({out, shape.back()}, dtype)};
  if (has_bias) in.push_back(torch::randn({out}, dtype));
  return in;
}

TEST(Linear, EqualsTorch) {
  for (const bool has_bias : {false, true}) {
    for (const std::vector<int64_t>& shape : {std::vector<int64_t>{1, 1}, {7, 16}, {2, 3, 33}, {300, 128}}) {
      for (const int64_t out : {1, 9, 64}) {
        ExpectSameFunction(Bind(Ours), Bind(Torch), RandomInputs(shape, out, has_bias, torch::kFloat32), 1e-5);
        ExpectSameFunction(Bind(Ours), Bind(Torch), RandomInputs(shape, out, has_bias, torch::kFloat64), 1e-13);
      }
    }
  }
}

TEST(Linear, SlicesAndTransposes) {
  torch::manual_seed(2);
  const Tensor x = torch::randn({20, 6}), weight = torch::randn({6, 8});
  const Tensor expected = torch::linear(x.slice(1, 1, 5), weight.t().slice(1, 2, 6));
  EXPECT_LT((Linear(x.slice(1, 1, 5), weight.t().slice(1, 2, 6)) - expected).abs().max().item<float>(), 1e-5);
}

TEST(Linear, NoRows) {
  EXPECT_EQ(Linear(torch::zeros({0, 4}), torch::zeros({3, 4})).sizes(), (std::vector<int64_t>{0, 3}));
}

TEST(Linear, WrongShapes) {
  EXPECT_EQ(MessageOf([] {
              Linear(torch::zeros({2, 4}), torch::zeros({3, 5}));
            }),
            "[linear] expected x of shape [..., in] and weight [out, in], got [2, 4] and [3, 5]");
  EXPECT_EQ(MessageOf([] {
              Linear(torch::zeros({2, 4}), torch::zeros({3, 4}), torch::zeros({2}));
            }),
            "[linear] expected bias of shape [3], got [2]");
}

TEST(RoundLinearToBf16, RoundsGatesToo) {
  const Tensor gate = torch::sigmoid(torch::tensor({0.1f, 6.2f, 6.3f}));
  EXPECT_TRUE(torch::equal(RoundedLikeLinear(gate), gate));
  const RoundLinearToBf16 scope(true);
  const Tensor rounded = RoundedLikeLinear(gate);
  EXPECT_TRUE(torch::equal(rounded, gate.to(torch::kBFloat16).to(torch::kFloat32)));
  EXPECT_NE(rounded[0].item<float>(), gate[0].item<float>());
  EXPECT_LT(rounded[1].item<float>(), 1.0f);
  EXPECT_EQ(rounded[2].item<float>(), 1.0f) << "an exact reflection";
}

TEST(RoundLinearToBf16, GivesWhatBf16TensorsGive) {
  const std::vector<Tensor> in = RandomInputs({40, 64}, 24, /*has_bias=*/true, torch::kFloat32);
  const Tensor plain = Linear(in[0], in[1], in[2]);
  const auto bf16 = [](const Tensor& x) { return x.to(torch::kBFloat16); };
  const Tensor expected = torch::linear(bf16(in[0]), bf16(in[1]), bf16(in[2])).to(torch::kFloat32);
  Tensor rounded;
  {
    const RoundLinearToBf16 scope(true);
    rounded = Linear(in[0], in[1], in[2]);
    {
      const RoundLinearToBf16 inner(false);
      EXPECT_TRUE(torch::equal(Linear(in[0], in[1], in[2]), plain));
    }
    EXPECT_TRUE(torch::equal(Linear(in[0], in[1], in[2]), rounded)) << "the outer scope is in force again";
  }
  EXPECT_EQ(rounded.scalar_type(), torch::kFloat32);
  EXPECT_TRUE(torch::equal(rounded, bf16(rounded).to(torch::kFloat32))) << "a bf16 number";
  // Sums in another order may be rounded to a neighbour: 2^-8 of the value, and a little where they cancel.
  EXPECT_TRUE(torch::allclose(rounded, expected, 1.0 / 256, 1e-2));
  EXPECT_GT((rounded - plain).abs().max().item<double>(), 1e-3);
  EXPECT_TRUE(torch::equal(Linear(in[0], in[1], in[2]), plain)) << "no longer than the scope";
}

// Two layers with something between them that stays bf16: as with fp32 tensors between them, but for the rounding of
// one gradient.
TEST(RoundLinearToBf16, WhatLiesBetweenTwoLayersMayStayBf16) {
  torch::manual_seed(3);
  std::vector<Tensor> in = {torch::randn({50, 48}), torch::randn({300, 48}), torch::randn({20, 300})};
  for (Tensor& x : in) x.requires_grad_();
  const Tensor dy = torch::randn({50, 20});
  const RoundLinearToBf16 scope(true);
  const auto run = [&](LinearOutput output) {
    const Tensor between = Linear(in[0], in[1], {}, output);
    const bool stays = output == LinearOutput::kAsMultiplied && HasBf16Products();
    EXPECT_EQ(between.scalar_type(), stays ? torch::kBFloat16 : torch::kFloat32);
    const Tensor y = Linear(torch::relu(between), in[2]);
    EXPECT_EQ(y.scalar_type(), torch::kFloat32);
    std::vector<Tensor> result = torch::autograd::grad({y}, in, {dy});
    for (const Tensor& gradient : result) EXPECT_EQ(gradient.scalar_type(), torch::kFloat32);
    result.push_back(y.detach());
    return result;
  };
  const auto expected = run(LinearOutput::kLikeWeight), got = run(LinearOutput::kAsMultiplied);
  EXPECT_TRUE(torch::equal(got[3], expected[3]));
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_LT((got[i] - expected[i]).norm().item<double>(), 0.01 * expected[i].norm().item<double>());
  }
}

TEST(Linear, AsMultipliedIsTheWeightsTypeWithoutRounding) {
  EXPECT_EQ(Linear(torch::ones({2, 4}), torch::ones({3, 4}), {}, LinearOutput::kAsMultiplied).scalar_type(),
            torch::kFloat32);
}

// Of one x with three weights below each other.
TEST(LinearParts, EachIsTheProductWithItsWeight) {
  const std::vector<int64_t> widths{7, 1, 20};
  const TensorFunction parts = [&](const std::vector<Tensor>& in) { return LinearParts(in[0], in[1], widths); };
  const TensorFunction torch_parts = [&](const std::vector<Tensor>& in) {
    return torch::linear(in[0], in[1]).split_with_sizes(widths, -1);
  };
  for (const std::vector<int64_t>& shape : {std::vector<int64_t>{1, 3}, {50, 16}, {2, 3, 5}}) {
    ExpectSameFunction(parts, torch_parts, RandomInputs(shape, 28, /*has_bias=*/false, torch::kFloat32), 1e-5);
    ExpectSameFunction(parts, torch_parts, RandomInputs(shape, 28, /*has_bias=*/false, torch::kFloat64), 1e-13);
  }
  for (const Tensor& part : LinearParts(torch::ones({4, 3}), torch::ones({28, 3}), widths)) {
    EXPECT_TRUE(part.is_contiguous());
  }
}

TEST(LinearParts, APartThatNobodyUsesHasNoGradient) {
  std::vector<Tensor> in = RandomInputs({50, 16}, 28, /*has_bias=*/false, torch::kFloat32);
  for (Tensor& x : in) x.requires_grad_();
  const auto gradients = torch::autograd::grad({LinearParts(in[0], in[1], {8, 20})[1].sum()}, in);
  EXPECT_TRUE(torch::equal(gradients[1].narrow(0, 0, 8), torch::zeros({8, 16})));
  EXPECT_TRUE(torch::allclose(gradients[1][8], in[0].detach().sum(0), 1e-5, 1e-5));
  EXPECT_TRUE(torch::allclose(gradients[0][0], in[1].detach().narrow(0, 8, 20).sum(0), 1e-5, 1e-5));
}

// In bf16 the parts are those of one product, bit by bit; the sum of their gradients is rounded once, not in parts.
TEST(LinearParts, InBf16AsOneProduct) {
  std::vector<Tensor> in = RandomInputs({50, 16}, 28, /*has_bias=*/false, torch::kFloat32);
  for (Tensor& x : in) x.requires_grad_();
  const Tensor dy = torch::randn({50, 28});
  const RoundLinearToBf16 scope(true);
  const Tensor whole = Linear(in[0], in[1]), parts = torch::cat(LinearParts(in[0], in[1], {8, 20}), -1);
  EXPECT_TRUE(torch::equal(parts, whole));
  const auto got = torch::autograd::grad({parts}, in, {dy}), expected = torch::autograd::grad({whole}, in, {dy});
  for (size_t i = 0; i < 2; ++i) EXPECT_TRUE(torch::allclose(got[i], expected[i], 1e-4, 1e-4));
}

TEST(LinearParts, WidthsAddUp) {
  EXPECT_EQ(MessageOf([] {
              LinearParts(torch::ones({2, 4}), torch::ones({5, 4}), {3, 3});
            }),
            "[linear] expected widths that add up to the 5 rows of weight, got [3, 3]");
}

TEST(RoundLinearToBf16, GradientsAreProductsOfBf16Numbers) {
  std::vector<Tensor> in = RandomInputs({50, 48}, 300, /*has_bias=*/false, torch::kFloat32);
  for (Tensor& x : in) x.requires_grad_();
  const Tensor dy = torch::randn({50, 300});
  const auto bf16 = [](const Tensor& x) { return x.detach().to(torch::kBFloat16).to(torch::kFloat32); };
  const RoundLinearToBf16 scope(true);
  const auto gradients = torch::autograd::grad({Linear(in[0], in[1])}, {in[0], in[1]}, {dy});
  const std::vector<Tensor> expected = {bf16(dy).matmul(bf16(in[1])), bf16(dy).t().matmul(bf16(in[0]))};
  const std::vector<Tensor> of_fp32 = {dy.matmul(in[1].detach()), dy.t().matmul(in[0].detach())};
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(gradients[i].scalar_type(), torch::kFloat32);
    EXPECT_TRUE(torch::allclose(gradients[i], expected[i], 1.0 / 256, 1e-2));
    EXPECT_GT((gradients[i] - of_fp32[i]).abs().max().item<double>(), 1e-3);
  }
}

}  // namespace
}  // namespace lrnn::ops
