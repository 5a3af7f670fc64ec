// Vectors along the last dimension scaled to unit length: the keys and queries of the delta rule.
//
//   y = x / sqrt(sum(x^2) + eps)        x, y: [..., D]
//
// A zero vector gives zeros, and the finite gradient dy / sqrt(eps).
#pragma once

#include "lrnn/ops/torch.h"

namespace lrnn::ops {

// The fused kernel for float and double on the CPU (differentiable once), the reference for everything else.
// [T, H, K] may be a slice of a wider projection: no copy is made as long as the last dimension is contiguous.
torch::Tensor L2Norm(const torch::Tensor& x, double eps);

// The equation in ATen: any device and dtype.
torch::Tensor L2NormReference(const torch::Tensor& x, double eps);

}  // namespace lrnn::ops
