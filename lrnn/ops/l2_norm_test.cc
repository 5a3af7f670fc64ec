#include "lrnn/ops/l2_norm.h"

#include <gtest/gtest.h>

#include "lrnn/base/message_of.h"
#include "lrnn/ops/op_contract.h"

namespace lrnn::ops {
namespace {

using torch::Tensor;
using Form = Tensor (*)(const Tensor&, double);

constexpr double kEps = 1e-6;

TensorFunction Bind(Form form) {
  return [form](const std::vector<Tensor>& in) -> std::vector<Tensor> { return {form(in[0], kEps)}; };
}

std::vector<Tensor> RandomInputs(at::IntArrayRef shape, torch::Dtype dtype) {
  torch::manual_seed(1);
  return {torch::randn(shape, dtype)};
}

TEST(L2Norm, EqualsReference) {
  for (const std::vector<int64_t>& shape :
       {std::vector<int64_t>{5}, {7, 16}, {3, 4, 33}, {2, 1, 3, 8}, {0, 4}, {0, 2, 4}, {300, 2, 65}}) {
    SCOPED_TRACE(shape.size());
    ExpectSameFunction(Bind(L2Norm), Bind(L2NormReference), RandomInputs(shape, torch::kFloat64), 1e-13);
    ExpectSameFunction(Bind(L2Norm), Bind(L2NormReference), RandomInputs(shape, torch::kFloat32), 1e-5);
  }
}

TEST(L2Norm, HeadsOfASliceOfAWiderProjection) {
  torch::manual_seed(2);
  const std::vector<Tensor> in{torch::randn({6, 3 * 2 * 5}, torch::kFloat64)};
  const auto bind = [](Form form, auto view) -> TensorFunction {
    return [=](const std::vector<Tensor>& x) -> std::vector<Tensor> { return {form(view(x[0]), kEps)}; };
  };
  const auto heads = [](const Tensor& x) { return x.slice(1, 10, 20).view({6, 2, 5}); };
  const auto columns = [](const Tensor& x) { return x.t(); };
  const auto four = [](const Tensor& x) { return x.slice(1, 0, 20).view({6, 2, 2, 5}); };
  ExpectSameFunction(bind(L2Norm, heads), bind(L2NormReference, heads), in, 1e-13);
  ExpectSameFunction(bind(L2Norm, columns), bind(L2NormReference, columns), in, 1e-13);
  ExpectSameFunction(bind(L2Norm, four), bind(L2NormReference, four), in, 1e-13);
}

TEST(L2Norm, FiniteDifferences) { ExpectFiniteDifferences(Bind(L2Norm), RandomInputs({3, 2, 4}, torch::kFloat64)); }

TEST(L2Norm, ZeroVectors) {
  const Tensor x = torch::zeros({2, 5}, torch::kFloat64).requires_grad_();
  const Tensor y = L2Norm(x, 1e-4);
  EXPECT_TRUE(torch::equal(y, torch::zeros({2, 5}, torch::kFloat64)));
  y.sum().backward();
  EXPECT_LT(RelativeError(x.grad(), torch::full({2, 5}, 100, torch::kFloat64)), 1e-14);
}

TEST(L2Norm, OtherTypesTakeTheReference) { ExpectTakesBfloat16(Bind(L2Norm), RandomInputs({4, 8}, torch::kFloat32)); }

TEST(L2Norm, SameBitsForAnyThreadCount) {
  ExpectSameBitsForAnyThreadCount(Bind(L2Norm), RandomInputs({700, 64}, torch::kFloat32));
}

TEST(L2Norm, RefusesWrongArguments) {
  for (Form form : {Form{L2Norm}, Form{L2NormReference}}) {
    EXPECT_EQ(MessageOf([&] { form(torch::zeros({}), kEps); }),
              "[l2_norm] expected x of shape [..., D] and a floating type, got [] of Float");
    EXPECT_EQ(MessageOf([&] {
                form(torch::zeros({3, 4}, torch::kInt32), kEps);
              }),
              "[l2_norm] expected x of shape [..., D] and a floating type, got [3, 4] of Int");
    EXPECT_EQ(MessageOf([&] { form(torch::zeros({3, 4}), -1); }), "[l2_norm] expected eps > 0, got -1");
  }
}

TEST(L2Norm, FusedDifferentiatesOnce) {
  ExpectFusedDifferentiatesOnce(Bind(L2Norm), Bind(L2NormReference), RandomInputs({2, 3}, torch::kFloat64), "l2_norm",
                                "L2NormReference");
}

}  // namespace
}  // namespace lrnn::ops
