#include "lrnn/ops/swiglu.h"

#include <gtest/gtest.h>

#include "lrnn/base/message_of.h"
#include "lrnn/ops/op_contract.h"

namespace lrnn::ops {
namespace {

using torch::Tensor;
using Form = Tensor (*)(const Tensor&);

TensorFunction Bind(Form form) {
  return [form](const std::vector<Tensor>& in) -> std::vector<Tensor> { return {form(in[0])}; };
}

TEST(SwiGlu, EqualsReference) {
  torch::manual_seed(1);
  for (const std::vector<int64_t>& shape : {std::vector<int64_t>{6}, {7, 32}, {3, 4, 18}, {0, 4}, {300, 130}}) {
    SCOPED_TRACE(shape.size());
    ExpectSameFunction(Bind(SwiGlu), Bind(SwiGluReference), {torch::randn(shape, torch::kFloat64)}, 1e-13);
    ExpectSameFunction(Bind(SwiGlu), Bind(SwiGluReference), {torch::randn(shape, torch::kFloat32)}, 2e-6);
  }
}

TEST(SwiGlu, ColumnsOfAWiderTensor) {
  torch::manual_seed(2);
  const auto bind = [](Form form) -> TensorFunction {
    return [form](const std::vector<Tensor>& in) -> std::vector<Tensor> { return {form(in[0].slice(1, 1, 9))}; };
  };
  ExpectSameFunction(bind(SwiGlu), bind(SwiGluReference), {torch::randn({5, 12}, torch::kFloat64)}, 1e-13);
}

TEST(SwiGlu, FiniteDifferences) {
  torch::manual_seed(3);
  ExpectFiniteDifferences(Bind(SwiGlu), {torch::randn({3, 6}, torch::kFloat64)});
}

TEST(SwiGlu, Bfloat16IsComputedInFp32) {
  torch::manual_seed(1);
  ExpectTakesBfloat16(Bind(SwiGlu), {torch::randn({2, 4})});
  const Tensor x = torch::randn({30, 66}).to(torch::kBFloat16).requires_grad_();
  const Tensor wide = x.detach().to(torch::kFloat32).requires_grad_();
  const Tensor dy = torch::randn({30, 33}).to(torch::kBFloat16);
  const Tensor y = SwiGlu(x), expected = SwiGlu(wide);
  EXPECT_TRUE(torch::equal(y, expected.to(torch::kBFloat16)));
  const auto gradient = torch::autograd::grad({y}, {x}, {dy});
  const auto expected_gradient = torch::autograd::grad({expected}, {wide}, {dy.to(torch::kFloat32)});
  EXPECT_TRUE(torch::equal(gradient[0], expected_gradient[0].to(torch::kBFloat16)));
}

TEST(SwiGlu, FusedDifferentiatesOnce) {
  torch::manual_seed(1);
  ExpectFusedDifferentiatesOnce(Bind(SwiGlu), Bind(SwiGluReference), {torch::randn({2, 4}, torch::kFloat64)}, "swiglu",
                                "SwiGluReference");
}

TEST(SwiGlu, RefusesWrongArguments) {
  for (Form form : {Form{SwiGlu}, Form{SwiGluReference}}) {
    EXPECT_EQ(MessageOf([&] {
                form(torch::zeros({2, 3}));
              }),
              "[swiglu] expected gate and up of shape [..., 2 D] and a floating type, got [2, 3] of Float");
    EXPECT_EQ(MessageOf([&] {
                form(torch::zeros({2, 4}, torch::kInt32));
              }),
              "[swiglu] expected gate and up of shape [..., 2 D] and a floating type, got [2, 4] of Int");
  }
}

}  // namespace
}  // namespace lrnn::ops
