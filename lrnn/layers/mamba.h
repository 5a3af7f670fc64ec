// Mamba: a linear RNN with a diagonal, input-dependent transition (Gu and Dao, 2023).
//
//   u, z = W_in x         u <- silu(conv(u))      dt_low, B, C = W_x u
//   A = -exp(A_log)       dt = softplus(W_dt dt_low + b_dt)
//   abar = exp(dt A),     2 exp(dt A) - 1 with allow_neg_eigval
//   h_t = abar h_{t-1} + dt B u                   y = W_out ((C . h + D u) silu(z))
//
// x, y: [T, D]   u, z, dt: [T, I]   B, C: [T, N]   A, h: [I, N]      I = expand D
// Eigenvalues of the transition: the elements of abar, in (0, 1) or, with allow_neg_eigval, (-1, 1).
// Parameter names and shapes as in the field's `mamba` checkpoints.
#pragma once

#include "lrnn/base/rng.h"
#include "lrnn/io/fields.h"
#include "lrnn/layers/linear.h"
#include "lrnn/layers/registry.h"
#include "lrnn/layers/sequence_mixer.h"
#include "lrnn/layers/short_conv.h"

namespace lrnn {

class MambaImpl : public LinearMixer {
 public:
  MambaImpl(const Fields& config, Rng& rng);

  // State: the inputs of the convolution [N, W-1, I], then h [N, I, state_size].
  torch::Tensor forward(const torch::Tensor& x, const ops::Sequences& sequences, MixerState* state = nullptr) override;
  EigenvalueRange eigenvalue_range() const override;
  torch::Tensor Eigenvalues(const torch::Tensor& x, const ops::Sequences& sequences) override;  // [T, I, N]
  torch::Tensor Transitions(const torch::Tensor& x, const ops::Sequences& sequences) override;  // [T, I, N, N]
  int64_t state_size() const override;
  std::vector<std::string> WithoutWeightDecay() const override { return {"A_log", "D"}; }

 private:
  struct Projected {
    torch::Tensor u, z, dt, B, C;  // dt before its bias and softplus
  };
  Projected Project(const torch::Tensor& x, const ops::Sequences& sequences, torch::Tensor* conv_state);
  torch::Tensor A() const { return -torch::exp(A_log_); }

  int64_t inner_, states_, rank_;
  bool allow_neg_eigval_;
  Linear in_proj_{nullptr}, x_proj_{nullptr}, dt_proj_{nullptr}, out_proj_{nullptr};
  ShortConv conv_{nullptr};
  torch::Tensor A_log_, D_;
};
TORCH_MODULE(Mamba);

LayerInfo MambaInfo();

}  // namespace lrnn
