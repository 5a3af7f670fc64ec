// The mean cross-entropy of rows of logits with one right class each.
#pragma once

#include "lrnn/ops/torch.h"

namespace lrnn::ops {

// logits: [R, V] with R > 0   targets: [R] int64 -> a scalar. The fused kernel for float and double on the CPU
// (differentiable once; it computes the gradient beside the loss), the reference for everything else.
torch::Tensor CrossEntropy(const torch::Tensor& logits, const torch::Tensor& targets);

// The same by ATen: any device and dtype.
torch::Tensor CrossEntropyReference(const torch::Tensor& logits, const torch::Tensor& targets);

}  // namespace lrnn::ops
