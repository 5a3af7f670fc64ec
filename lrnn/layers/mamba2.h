// Mamba-2: a linear RNN with a matrix state and one decay a head (Dao and Gu, 2024).
//
//   z, u, B, C, dt = W_in x         u, B, C <- silu(conv(u, B, C))         dt <- softplus(dt + b_dt)
//   a = exp(dt A),   2 exp(dt A) - 1 with allow_neg_eigval,   A = -exp(A_log)              one per head
//   S_t = a S_{t-1} + B (dt u)^T        o_t = S_t^T C + D u        y = W_out RMSNorm(o silu(z))
//
// x, y: [T, D]   z, u, o: [T, H, P]   B, C: [T, G, N]   dt, a: [T, H]   S: [H, N, P]      H P = expand hidden_size
// The heads of a group share B and C. The norm runs over the channels of a group.
// Eigenvalues of the transition: a, in (0, 1) or, with allow_neg_eigval, (-1, 1); N of them a head are equal.
// Parameter names and shapes as in the field's `mamba2` checkpoints.
#pragma once

#include "lrnn/base/rng.h"
#include "lrnn/io/fields.h"
#include "lrnn/layers/linear.h"
#include "lrnn/layers/registry.h"
#include "lrnn/layers/rms_norm.h"
#include "lrnn/layers/sequence_mixer.h"
#include "lrnn/layers/short_conv.h"

namespace lrnn {

class Mamba2Impl : public LinearMixer {
 public:
  Mamba2Impl(const Fields& config, Rng& rng);

  // State: the inputs of the convolution [N, W-1, .], then S [N, H, state_size, P].
  torch::Tensor forward(const torch::Tensor& x, const ops::Sequences& sequences, MixerState* state = nullptr) override;
  EigenvalueRange eigenvalue_range() const override;
  torch::Tensor Eigenvalues(const torch::Tensor& x, const ops::Sequences& sequences) override;  // [T, H]
  torch::Tensor Transitions(const torch::Tensor& x, const ops::Sequences& sequences) override;  // [T, H, 1, 1]
  int64_t state_size() const override;
  std::vector<std::string> WithoutWeightDecay() const override { return {"A_log", "D", "dt_bias"}; }

 private:
  // z [T, H P];  u, B, C [T, H P + 2 G N];  dt [T, H] before its bias
  std::vector<torch::Tensor> Project(const torch::Tensor& x);
  torch::Tensor Decay(const torch::Tensor& dt) const;  // dt after softplus

  int64_t heads_, head_width_, groups_, states_;
  double eps_;
  bool allow_neg_eigval_;
  Linear in_proj_{nullptr}, out_proj_{nullptr};
  ShortConv conv_{nullptr};
  RmsNorm norm_{nullptr};
  torch::Tensor A_log_, D_, dt_bias_;
};
TORCH_MODULE(Mamba2);

LayerInfo Mamba2Info();

}  // namespace lrnn
