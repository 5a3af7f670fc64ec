// RMSNorm with a learned scale, initially 1 (lrnn/ops/rms_norm.h gives the equation).
#pragma once

#include "lrnn/ops/rms_norm.h"
#include "lrnn/ops/torch.h"

namespace lrnn {

class RmsNormImpl : public torch::nn::Module {
 public:
  RmsNormImpl(int64_t width, double eps) : eps_(eps) { weight = register_parameter("weight", torch::ones({width})); }
  torch::Tensor forward(const torch::Tensor& x) { return ops::RmsNorm(x, weight, eps_); }
  ops::SumAndNorm OfSum(const torch::Tensor& x, const torch::Tensor& residual) {
    return ops::AddRmsNorm(x, residual, weight, eps_);
  }

  torch::Tensor weight;

 private:
  double eps_;
};
TORCH_MODULE(RmsNorm);

}  // namespace lrnn
