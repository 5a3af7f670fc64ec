// For tests: gradients of one function against another, and against finite differences.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "lrnn/ops/torch.h"

namespace lrnn::ops {

using TensorFunction = std::function<std::vector<torch::Tensor>(const std::vector<torch::Tensor>&)>;

// sum_i <outputs_i, weights_i> with fixed random weights: one scalar whose gradient exercises all outputs.
inline torch::Tensor WeightedSum(const std::vector<torch::Tensor>& outputs) {
  torch::Tensor sum = torch::zeros({}, outputs[0].options());
  for (size_t i = 0; i < outputs.size(); ++i) {
    const torch::Tensor ramp = torch::arange(outputs[i].numel(), outputs[i].options()) + static_cast<double>(i);
    sum = sum + (outputs[i].reshape({-1}) * torch::sin(1.7 * ramp)).sum();
  }
  return sum;
}

inline std::vector<torch::Tensor> GradientsOf(const TensorFunction& function,
                                              const std::vector<torch::Tensor>& inputs) {
  std::vector<torch::Tensor> leaves;
  for (const torch::Tensor& input : inputs) leaves.push_back(input.detach().clone().requires_grad_());
  WeightedSum(function(leaves)).backward();
  std::vector<torch::Tensor> gradients;
  for (const torch::Tensor& leaf : leaves)
    gradients.push_back(leaf.grad().defined() ? leaf.grad() : torch::zeros_like(leaf));
  return gradients;
}

// Largest difference, relative to the largest magnitude expected (at least 1).
inline double RelativeError(const torch::Tensor& got, const torch::Tensor& expected) {
  if (expected.numel() == 0) return 0;
  const double scale = std::max(1.0, expected.abs().max().item<double>());
  return (got.to(torch::kFloat64) - expected.to(torch::kFloat64)).abs().max().item<double>() / scale;
}

// Outputs and gradients of `got` equal those of `expected`; NaN never does.
inline void ExpectSameFunction(const TensorFunction& got, const TensorFunction& expected,
                               const std::vector<torch::Tensor>& inputs, double tolerance) {
  const auto outputs = got(inputs), expected_outputs = expected(inputs);
  ASSERT_EQ(outputs.size(), expected_outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    ASSERT_EQ(outputs[i].sizes(), expected_outputs[i].sizes()) << "output " << i;
    EXPECT_LE(RelativeError(outputs[i], expected_outputs[i]), tolerance) << "output " << i;
  }
  const auto gradients = GradientsOf(got, inputs), expected_gradients = GradientsOf(expected, inputs);
  for (size_t i = 0; i < inputs.size(); ++i) {
    EXPECT_LE(RelativeError(gradients[i], expected_gradients[i]), tolerance) << "gradient of input " << i;
  }
}

// Central differences of every element, in double.
inline void ExpectFiniteDifferences(const TensorFunction& function, const std::vector<torch::Tensor>& inputs,
                                    double tolerance = 1e-7) {
  constexpr double kStep = 1e-5;
  const auto gradients = GradientsOf(function, inputs);
  torch::NoGradGuard no_grad;
  for (size_t i = 0; i < inputs.size(); ++i) {
    ASSERT_EQ(inputs[i].scalar_type(), torch::kFloat64);
    torch::Tensor flat_gradient = gradients[i].reshape({-1});
    for (int64_t element = 0; element < inputs[i].numel(); ++element) {
      const auto value_at = [&](double offset) {
        std::vector<torch::Tensor> moved = inputs;
        moved[i] = inputs[i].clone();
        moved[i].view({-1})[element] += offset;
        return WeightedSum(function(moved)).item<double>();
      };
      const double difference = (value_at(kStep) - value_at(-kStep)) / (2 * kStep);
      ASSERT_NEAR(flat_gradient[element].item<double>(), difference, tolerance * std::max(1.0, std::abs(difference)))
          << "input " << i << ", element " << element;
    }
  }
}

}  // namespace lrnn::ops
