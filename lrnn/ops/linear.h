// y = x W^T (+ bias): the one place that chooses who multiplies matrices.
//
// On the CPU in single precision oneDNN does, faster than the BLAS behind torch for the tall, narrow products of these
// models (docs/performance.md); everything else is torch's own linear.
#pragma once

#include <torch/torch.h>

namespace lrnn::ops {

// x: [..., in], weight: [out, in], bias: [out] or undefined -> [..., out]
torch::Tensor Linear(const torch::Tensor& x, const torch::Tensor& weight, const torch::Tensor& bias = {});

}  // namespace lrnn::ops
