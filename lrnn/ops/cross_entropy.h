// The mean cross-entropy of rows of logits with one right class each.
#pragma once

#include "lrnn/ops/torch.h"

namespace lrnn::ops {

// logits: [R, V] with R > 0   targets: [R] int64 -> a scalar. `smoothing` in [0, 1) of the probability that is asked
// for is spread over all classes. The fused kernel for float and double on the CPU (differentiable once; it computes
// the gradient beside the loss), the reference for everything else.
torch::Tensor CrossEntropy(const torch::Tensor& logits, const torch::Tensor& targets, double smoothing = 0);

// The same by ATen: any device and dtype.
torch::Tensor CrossEntropyReference(const torch::Tensor& logits, const torch::Tensor& targets, double smoothing = 0);

// The least that the cross-entropy can be, the entropy of the smoothed distribution over V classes: 0 without
// smoothing.
double LeastCrossEntropy(double smoothing, int64_t V);

}  // namespace lrnn::ops
