// GLA: gated linear attention, a linear RNN with a matrix state and a diagonal transition (Yang et al., 2024).
//
//   q, k, v = W_q x, W_k x, W_v x                    each through silu(conv(.)) with use_short_conv
//   s = sigmoid(W_2 W_1 x + b)^(1/c)                 one per key channel, W_1 of low rank, c = gate_logit_normalizer
//   a = s,   2 s - 1 with allow_neg_eigval
//   S_t = Diag(a) S_{t-1} + k v^T        o_t = S_t^T q / sqrt(K)        y = W_o (RMSNorm(o) silu(W_g x))
//
// x, y: [T, D]   q, k, a: [T, H, K]   v, o: [T, H, V]   S: [H, K, V]
// Eigenvalues of the transition: the elements of a, in (0, 1) or, with allow_neg_eigval, (-1, 1). With c = 16, as in
// the field's models, s falls below 1/2 only where sigmoid falls below 2^-16; tasks that need signs want a smaller c.
// Parameter names and shapes as in flash-linear-attention's `gla` checkpoints.
#pragma once

#include "lrnn/base/rng.h"
#include "lrnn/io/fields.h"
#include "lrnn/layers/linear.h"
#include "lrnn/layers/registry.h"
#include "lrnn/layers/rms_norm.h"
#include "lrnn/layers/sequence_mixer.h"
#include "lrnn/layers/short_conv.h"

namespace lrnn {

class GlaImpl : public LinearMixer {
 public:
  GlaImpl(const Fields& config, Rng& rng);

  // State: the inputs of the three convolutions [N, W-1, .] (when there are any), then S [N, H, K, V].
  torch::Tensor forward(const torch::Tensor& x, const ops::Sequences& sequences, MixerState* state = nullptr) override;
  EigenvalueRange eigenvalue_range() const override;
  torch::Tensor Eigenvalues(const torch::Tensor& x, const ops::Sequences& sequences) override;  // [T, H, K]
  torch::Tensor Transitions(const torch::Tensor& x, const ops::Sequences& sequences) override;  // [T, H K, 1, 1]
  int64_t state_size() const override;

 private:
  torch::Tensor Decay(const torch::Tensor& low);  // [T, rank] -> [T, H, K]

  int64_t heads_, key_width_, value_width_;  // of one head
  double gate_normalizer_;
  bool has_conv_, has_output_gate_, allow_neg_eigval_;
  Linear q_proj_{nullptr}, k_proj_{nullptr}, v_proj_{nullptr}, g_proj_{nullptr}, o_proj_{nullptr};
  Linear gate_down_{nullptr}, gate_up_{nullptr};  // gk_proj.0, gk_proj.1
  ShortConv q_conv_{nullptr}, k_conv_{nullptr}, v_conv_{nullptr};
  RmsNorm norm_{nullptr};
};
TORCH_MODULE(Gla);

LayerInfo GlaInfo();

}  // namespace lrnn
