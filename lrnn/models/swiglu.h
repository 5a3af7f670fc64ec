// The gated MLP of a block:  y = W_down (silu(W_gate x) * W_up x).
#pragma once

#include "lrnn/base/rng.h"
#include "lrnn/layers/linear.h"

namespace lrnn {

class SwiGluImpl : public torch::nn::Module {
 public:
  // Weights N(0, deviation), but those of `down_proj` 0: the block fills them.
  SwiGluImpl(int64_t width, int64_t inner, double deviation, Rng& rng);
  torch::Tensor forward(const torch::Tensor& x);  // [T, width] -> [T, width]
  torch::Tensor down_weight() { return down_proj_->weight; }

 private:
  Linear gate_proj_{nullptr}, up_proj_{nullptr}, down_proj_{nullptr};
};
TORCH_MODULE(SwiGlu);

}  // namespace lrnn
