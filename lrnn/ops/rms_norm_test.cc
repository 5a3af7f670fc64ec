#include "lrnn/ops/rms_norm.h"

#include <gtest/gtest.h>

#include "lrnn/base/message_of.h"
#include "lrnn/ops/op_contract.h"

namespace lrnn::ops {
namespace {

using torch::Tensor;
using Form = Tensor (*)(const Tensor&, const Tensor&, double);

constexpr double kEps = 1e-5;

TensorFunction Bind(Form form) {
  return [form](const std::vector<Tensor>& in) -> std::vector<Tensor> { return {form(in[0], in[1], kEps)}; };
}

std::vector<Tensor> RandomInputs(at::IntArrayRef shape, torch::Dtype dtype) {
  torch::manual_seed(1);
  return {torch::randn(shape, dtype), torch::randn(shape.back(), dtype)};
}

TEST(RmsNorm, EqualsReference) {
  for (const std::vector<int64_t>& shape :
       {std::vector<int64_t>{5}, {7, 16}, {3, 4, 33}, {2, 1, 3, 8}, {0, 4}, {300, 65}}) {
    SCOPED_TRACE(shape.size());
    ExpectSameFunction(Bind(RmsNorm), Bind(RmsNormReference), RandomInputs(shape, torch::kFloat64), 1e-13);
    ExpectSameFunction(Bind(RmsNorm), Bind(RmsNormReference), RandomInputs(shape, torch::kFloat32), 2e-5);
  }
}

TEST(RmsNorm, OfASumEqualsTheReferenceOfTheSum) {
  const TensorFunction fused = [](const std::vector<Tensor>& in) -> std::vector<Tensor> {
    const SumAndNorm result = AddRmsNorm(in[0], in[1], in[2], kEps);
    return {result.sum, result.norm};
  };
  const TensorFunction reference = [](const std::vector<Tensor>& in) -> std::vector<Tensor> {
    return {in[0] + in[1], RmsNormReference(in[0] + in[1], in[2], kEps)};
  };
  torch::manual_seed(4);
  for (const std::vector<int64_t>& shape : {std::vector<int64_t>{5}, {7, 16}, {3, 4, 33}, {0, 4}, {300, 65}}) {
    const auto inputs = [&](torch::Dtype type) -> std::vector<Tensor> {
      return {torch::randn(shape, type), torch::randn(shape, type), torch::randn(shape.back(), type)};
    };
    ExpectSameFunction(fused, reference, inputs(torch::kFloat64), 1e-13);
    ExpectSameFunction(fused, reference, inputs(torch::kFloat32), 2e-5);
  }
  ExpectFiniteDifferences(fused, {torch::randn({2, 5}, torch::kFloat64), torch::randn({2, 5}, torch::kFloat64),
                                  torch::randn(5, torch::kFloat64)});
  // One of the two results unused: its gradient is zero.
  const TensorFunction norm_only = [&](const std::vector<Tensor>& in) -> std::vector<Tensor> { return {fused(in)[1]}; };
  const TensorFunction expected = [&](const std::vector<Tensor>& in) -> std::vector<Tensor> {
    return {reference(in)[1]};
  };
  ExpectSameFunction(
      norm_only, expected,
      {torch::randn({4, 6}, torch::kFloat64), torch::randn({4, 6}, torch::kFloat64), torch::randn(6, torch::kFloat64)},
      1e-13);
  EXPECT_EQ(AddRmsNorm(torch::ones({2, 4}, torch::kBFloat16), torch::ones({2, 4}, torch::kBFloat16),
                       torch::ones(4, torch::kBFloat16), kEps)
                .norm.scalar_type(),
            torch::kBFloat16);
}

TEST(RmsNorm, SlicesAndTransposesOfAWiderTensor) {
  torch::manual_seed(2);
  const std::vector<Tensor> in{torch::randn({6, 20}, torch::kFloat64), torch::randn(7, torch::kFloat64)};
  const auto bind = [](Form form, auto view) -> TensorFunction {
    return [=](const std::vector<Tensor>& x) -> std::vector<Tensor> { return {form(view(x[0]), x[1], kEps)}; };
  };
  const auto slice = [](const Tensor& x) { return x.slice(1, 3, 10); };
  const auto steps = [](const Tensor& x) { return x.slice(1, 0, 20, 3); };
  ExpectSameFunction(bind(RmsNorm, slice), bind(RmsNormReference, slice), in, 1e-13);
  ExpectSameFunction(bind(RmsNorm, steps), bind(RmsNormReference, steps), in, 1e-13);
}

TEST(RmsNorm, FiniteDifferences) { ExpectFiniteDifferences(Bind(RmsNorm), RandomInputs({3, 5}, torch::kFloat64)); }

TEST(RmsNorm, OtherTypesTakeTheReference) { ExpectTakesBfloat16(Bind(RmsNorm), RandomInputs({4, 8}, torch::kFloat32)); }

TEST(RmsNorm, SameBitsForAnyThreadCount) {
  ExpectSameBitsForAnyThreadCount(Bind(RmsNorm), RandomInputs({700, 64}, torch::kFloat32));
}

TEST(RmsNorm, RefusesWrongArguments) {
  const Tensor x = torch::zeros({3, 4}), weight = torch::ones(4);
  for (Form form : {Form{RmsNorm}, Form{RmsNormReference}}) {
    EXPECT_EQ(MessageOf([&] { form(torch::zeros({}), weight, kEps); }),
              "[rms_norm] expected x of shape [..., D] and a floating type, got [] of Float");
    EXPECT_EQ(MessageOf([&] { form(x.to(torch::kInt32), weight, kEps); }),
              "[rms_norm] expected x of shape [..., D] and a floating type, got [3, 4] of Int");
    EXPECT_EQ(MessageOf([&] { form(x, torch::ones(5), kEps); }),
              "[rms_norm] expected weight of shape [D] with D = 4, got [5]");
    EXPECT_EQ(MessageOf([&] { form(x, weight.to(torch::kFloat64), kEps); }),
              "[rms_norm] expected weight of x's type Float, got Double");
    EXPECT_EQ(MessageOf([&] { form(x, weight.to(torch::kMeta), kEps); }),
              "[rms_norm] expected weight on x's device cpu, got meta");
    EXPECT_EQ(MessageOf([&] { form(x, weight, 0); }), "[rms_norm] expected eps > 0, got 0");
  }
}

TEST(RmsNorm, RefusesAResidualOfAnotherShape) {
  EXPECT_EQ(MessageOf([&] {
              AddRmsNorm(torch::zeros({3, 4}), torch::zeros({2, 4}), torch::ones(4), kEps);
            }),
            "[rms_norm] expected a residual of x's shape [3, 4] and type Float, got [2, 4] of Float");
}

TEST(RmsNorm, FusedDifferentiatesOnce) {
  ExpectFusedDifferentiatesOnce(Bind(RmsNorm), Bind(RmsNormReference), RandomInputs({2, 3}, torch::kFloat64),
                                "rms_norm", "RmsNormReference");
}

}  // namespace
}  // namespace lrnn::ops
