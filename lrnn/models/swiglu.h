// The gated MLP of a block:  y = W_down (silu(W_gate x) * W_up x).
#pragma once

#include "lrnn/base/rng.h"
#include "lrnn/layers/linear.h"

namespace lrnn {

class SwiGluImpl : public torch::nn::Module {
 public:
  // Weights N(0, deviation), those of `down_proj` N(0, down_deviation).
  SwiGluImpl(int64_t width, int64_t inner, double deviation, double down_deviation, Rng& rng);
  torch::Tensor forward(const torch::Tensor& x);  // [T, width] -> [T, width]

 private:
  Linear gate_proj_{nullptr}, up_proj_{nullptr}, down_proj_{nullptr};
};
TORCH_MODULE(SwiGlu);

}  // namespace lrnn
