// Root-mean-square normalisation over the last dimension, with a learned scale (Zhang & Sennrich 2019).
//
//   y = x / sqrt(mean(x^2) + eps) * weight        x, y: [..., D]   weight: [D]
#pragma once

#include "lrnn/ops/torch.h"

namespace lrnn::ops {

// The fused kernel for float and double on the CPU (differentiable once), the reference for everything else.
torch::Tensor RmsNorm(const torch::Tensor& x, const torch::Tensor& weight, double eps);

// x + residual and its norm, in one pass: what stands before each part of a block.
struct SumAndNorm {
  torch::Tensor sum;
  torch::Tensor norm;
};

// The fused kernel where RmsNorm takes it. x, residual: [..., D], of one shape and type.
SumAndNorm AddRmsNorm(const torch::Tensor& x, const torch::Tensor& residual, const torch::Tensor& weight, double eps);

// The equation in ATen: any device and dtype.
torch::Tensor RmsNormReference(const torch::Tensor& x, const torch::Tensor& weight, double eps);

}  // namespace lrnn::ops
