// DeltaNet: a linear RNN whose transition is a generalised Householder matrix (Yang et al., 2024).
//
//   q, k, v = silu(conv(W_q x)), silu(conv(W_k x)), silu(conv(W_v x))      q, k <- q / |q|, k / |k|      per head
//   beta = sigmoid(W_b x),   2 sigmoid(W_b x) with allow_neg_eigval                                      one per head
//   S_t = (I - beta k k^T) S_{t-1} + beta k v^T        o_t = S_t^T q / sqrt(K)        y = W_o RMSNorm(o)
//
// x, y: [T, D]   q, k: [T, H, K]   v, o: [T, H, V]   beta: [T, H]   S: [H, K, V]
// Eigenvalues of the transition: K - 1 times 1, and 1 - beta in [0, 1] or, with allow_neg_eigval, [-1, 1].
// Parameter names and shapes as in flash-linear-attention's `delta_net` checkpoints.
#pragma once

#include "lrnn/base/rng.h"
#include "lrnn/io/fields.h"
#include "lrnn/layers/linear.h"
#include "lrnn/layers/registry.h"
#include "lrnn/layers/rms_norm.h"
#include "lrnn/layers/sequence_mixer.h"
#include "lrnn/layers/short_conv.h"

namespace lrnn {

class DeltaNetImpl : public LinearMixer {
 public:
  DeltaNetImpl(const Fields& config, Rng& rng);

  // State: the inputs of the three convolutions [N, W-1, .] (when there are any), then S [N, H, K, V].
  torch::Tensor forward(const torch::Tensor& x, const ops::Sequences& sequences, MixerState* state = nullptr) override;
  EigenvalueRange eigenvalue_range() const override;
  torch::Tensor Eigenvalues(const torch::Tensor& x, const ops::Sequences& sequences) override;  // [T, H]
  torch::Tensor Transitions(const torch::Tensor& x, const ops::Sequences& sequences) override;  // [T, H, K, K]
  int64_t state_size() const override;

 private:
  struct Projected {
    torch::Tensor q, k, v, beta;  // [T, H, K], [T, H, K], [T, H, V], [T, H]
  };
  Projected Project(const torch::Tensor& x, const ops::Sequences& sequences, MixerState* state);

  int64_t heads_, key_width_, value_width_;  // of one head
  bool has_conv_, silu_qk_, allow_neg_eigval_;
  Linear q_proj_{nullptr}, k_proj_{nullptr}, v_proj_{nullptr}, b_proj_{nullptr}, o_proj_{nullptr};
  ShortConv q_conv_{nullptr}, k_conv_{nullptr}, v_conv_{nullptr};
  RmsNorm o_norm_{nullptr};
};
TORCH_MODULE(DeltaNet);

LayerInfo DeltaNetInfo();

}  // namespace lrnn
