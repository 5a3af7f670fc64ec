// A short causal depthwise convolution in front of a recurrence (lrnn/ops/causal_conv.h gives the equation).
#pragma once

#include "lrnn/base/rng.h"
#include "lrnn/ops/sequences.h"
#include "lrnn/ops/torch.h"

namespace lrnn {

// Parameters as in the field's checkpoints: `weight` [channels, 1, width] and, if wanted, `bias` [channels], both
// initially U(-1/sqrt(width), 1/sqrt(width)).
class ShortConvImpl : public torch::nn::Module {
 public:
  ShortConvImpl(int64_t channels, int64_t width, bool has_bias, Rng& rng);

  // x: [T, channels]. `state` [N, width - 1, channels] goes in (undefined: zeros) and comes out, unless it is null.
  torch::Tensor forward(const torch::Tensor& x, const ops::Sequences& sequences, bool silu,
                        torch::Tensor* state = nullptr);

  int64_t state_size() const { return (weight.size(2) - 1) * weight.size(0); }

  torch::Tensor weight;
  torch::Tensor bias;  // undefined without bias
};
TORCH_MODULE(ShortConv);

}  // namespace lrnn
