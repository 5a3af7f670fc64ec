// For tests: what every operation with a kernel keeps to, beside the equality with its reference (gradient_check.h).
#pragma once

#include <ATen/Parallel.h>

#include "lrnn/base/message_of.h"
#include "lrnn/ops/gradient_check.h"

namespace lrnn::ops {

// Outputs and gradients do not depend on how the work is shared.
inline void ExpectSameBitsForAnyThreadCount(const TensorFunction& function, const std::vector<torch::Tensor>& inputs) {
  const int threads_before = at::get_num_threads();
  const auto results = [&](int threads) {
    at::set_num_threads(threads);
    std::vector<torch::Tensor> all = function(inputs);
    for (const torch::Tensor& gradient : GradientsOf(function, inputs)) all.push_back(gradient);
    return all;
  };
  const auto one = results(1);
  for (int threads : {2, 3}) {
    const auto more = results(threads);
    for (size_t i = 0; i < one.size(); ++i) {
      EXPECT_TRUE(torch::equal(one[i], more[i])) << "output or gradient " << i << " with " << threads << " threads";
    }
  }
  at::set_num_threads(threads_before);
}

// bfloat16, for which there are no kernels, gives bfloat16 near the result of float.
inline void ExpectTakesBfloat16(const TensorFunction& function, const std::vector<torch::Tensor>& inputs,
                                double tolerance = 0.05) {
  std::vector<torch::Tensor> rounded;
  for (const torch::Tensor& input : inputs) rounded.push_back(input.to(torch::kBFloat16));
  const torch::Tensor got = function(rounded)[0];
  EXPECT_EQ(got.scalar_type(), torch::kBFloat16);
  EXPECT_LT(RelativeError(got, function(inputs)[0]), tolerance);
}

// The gradients of the gradients' weighted sum.
inline void DifferentiateTwice(const TensorFunction& function, const std::vector<torch::Tensor>& inputs) {
  std::vector<torch::Tensor> leaves;
  for (const torch::Tensor& input : inputs) leaves.push_back(input.detach().clone().requires_grad_());
  const torch::Tensor sum = WeightedSum(function(leaves));
  const auto gradients = torch::autograd::grad({sum}, leaves, {}, /*retain_graph=*/true, /*create_graph=*/true);
  const auto second = torch::autograd::grad({WeightedSum(gradients)}, leaves, {}, false, false, /*allow_unused=*/true);
  ASSERT_TRUE(second[0].defined());
  EXPECT_TRUE(torch::isfinite(second[0]).all().item<bool>());
}

// Gradients of the kernel's gradients are an error, and the form it names has them.
inline void ExpectFusedDifferentiatesOnce(const TensorFunction& fused, const TensorFunction& other_form,
                                          const std::vector<torch::Tensor>& inputs, const std::string& operation,
                                          const std::string& other_name) {
  EXPECT_EQ(MessageOf([&] { DifferentiateTwice(fused, inputs); }),
            "[" + operation + "] the fused kernel can be differentiated once; use " + other_name + " for more");
  DifferentiateTwice(other_form, inputs);
}

}  // namespace lrnn::ops
