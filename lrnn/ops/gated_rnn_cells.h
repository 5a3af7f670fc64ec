// One step of the gated non-linear RNNs in ATen operations: gates [..., 4, K], state [..., S, H, K] with y first, of
// any number of sequences. What gated_rnn_aten.cc and gated_rnn_reference.cc carry through time.
#pragma once

#include <cmath>

#include "lrnn/ops/torch.h"

namespace lrnn::ops {

// gates: [N, H, 4, K]   state: [N, 4, H, K] (y, c, n, m)   -> the next state
struct SlstmStep {
  static constexpr int64_t kStates = 4;

  static torch::Tensor Next(const torch::Tensor& gates, const torch::Tensor& state) {
    const auto g = gates.unbind(2), s = state.unbind(1);  // each [N, H, K]
    const torch::Tensor fresh = s[2] == 0, kept = torch::log_sigmoid(g[1]) + s[3];
    const torch::Tensor m = torch::where(fresh, g[0], torch::maximum(g[0], kept));
    const torch::Tensor i = torch::exp(g[0] - m);
    // The exponent is chosen first: where a state of zeros meets a very negative i~, e^kept would overflow.
    const torch::Tensor f = torch::exp(torch::where(fresh, torch::full_like(m, -INFINITY), kept - m));
    const torch::Tensor c = f * s[1] + i * torch::tanh(g[2]), n = f * s[2] + i;
    return torch::stack({torch::sigmoid(g[3]) * c / n, c, n, m}, 1);
  }
};

// gates: [N, H, 4, K]   state: [N, 2, H, K] (y, c)   -> the next state
struct LstmStep {
  static constexpr int64_t kStates = 2;

  static torch::Tensor Next(const torch::Tensor& gates, const torch::Tensor& state) {
    const auto g = gates.unbind(2), s = state.unbind(1);
    const torch::Tensor c = torch::sigmoid(g[1]) * s[1] + torch::sigmoid(g[0]) * torch::tanh(g[2]);
    return torch::stack({torch::sigmoid(g[3]) * torch::tanh(c), c}, 1);
  }
};

// x_t + bias + y R: x_t [N, H, 4, K], y [N, H, K], R [H, K, 4, K].
inline torch::Tensor GatesOfStep(const torch::Tensor& x, const torch::Tensor& y, const torch::Tensor& R,
                                 const torch::Tensor& bias) {
  const int64_t H = R.size(0), K = R.size(1);
  const torch::Tensor recurrent = torch::bmm(y.transpose(0, 1), R.reshape({H, K, 4 * K}));  // [H, N, 4 K]
  return x + bias + recurrent.transpose(0, 1).reshape(x.sizes());
}

}  // namespace lrnn::ops
