// The gated MLP behind an sLSTM layer (xLSTM):  y = W_down (gelu(gate) * up)   with   gate, up = W_up x.
#pragma once

#include "lrnn/base/rng.h"
#include "lrnn/layers/linear.h"

namespace lrnn {

class GatedGeluImpl : public torch::nn::Module {
 public:
  // Weights N(0, deviation), those of `proj_down` N(0, down_deviation).
  GatedGeluImpl(int64_t width, int64_t inner, double deviation, double down_deviation, Rng& rng);
  torch::Tensor forward(const torch::Tensor& x);  // [T, width] -> [T, width]

 private:
  Linear up_{nullptr}, down_{nullptr};
};
TORCH_MODULE(GatedGelu);

}  // namespace lrnn
