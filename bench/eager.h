// DeltaNet and Mamba as one would write them in PyTorch without kernels of one's own: what a training step is compared
// with. Sequences are padded to the longest; the delta rule is in chunk form, the selective scan parallel over time.
#pragma once

#include "lrnn/models/model.h"
#include "lrnn/ops/torch.h"

namespace lrnn::bench {

// The logits [N, vocabulary] after the last token of each sequence, by torch operations alone, from the parameters of
// `model` (with gradients to them). tokens: [N, L] int64, padded   lengths: [N] int64.
torch::Tensor EagerLogits(Model& model, const torch::Tensor& tokens, const torch::Tensor& lengths);

}  // namespace lrnn::bench
