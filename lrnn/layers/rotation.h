// The rotation layer: a linear RNN with a matrix state whose transition turns planes, as Mamba-3 does (2026).
//
//   q, k, v = W_q x, W_k x, W_v x
//   dt = softplus(W_dt x + b_dt)                     one a head
//   a  = exp(-dt softplus(W_a x + b_a))              one a head
//   w  = pi tanh(W_w x) dt                           one for each head and plane, W_w x shared by the heads
//   S_t = a R(w) S_{t-1} + dt k v^T        o_t = S_t^T q / sqrt(K)        y = W_o (RMSNorm(o) silu(W_g x))
//
// x, y: [T, D]   q, k: [T, H, K]   v, o: [T, H, V]   dt, a: [T, H]   w: [T, H, K/2]   S: [H, K, V]
// R(w) turns the plane of rows i and i + K/2 of S by w_i. Eigenvalues of the transition: a e^(i w) and a e^(-i w), of
// modulus below 1; w = pi gives the negative ones. Rotations of the same planes commute, so with the angles summed up,
//   S_t = P_t Z_t,   P_t = R(w_1 + ... + w_t),   Z_t = a Z_{t-1} + dt (P_t^-1 k) v^T,   o_t = Z_t^T (P_t^-1 q) /
//   sqrt(K)
// is linear attention with decay, on queries and keys that are turned back.
#pragma once

#include "lrnn/base/rng.h"
#include "lrnn/io/fields.h"
#include "lrnn/layers/linear.h"
#include "lrnn/layers/registry.h"
#include "lrnn/layers/rms_norm.h"
#include "lrnn/layers/sequence_mixer.h"

namespace lrnn {

class RotationImpl : public LinearMixer {
 public:
  RotationImpl(const Fields& config, Rng& rng);

  // State: S [N, H, K, V].
  torch::Tensor forward(const torch::Tensor& x, const ops::Sequences& sequences, MixerState* state = nullptr) override;
  EigenvalueRange eigenvalue_range() const override { return {-1, 1}; }
  torch::Tensor Eigenvalues(const torch::Tensor& x, const ops::Sequences& sequences) override;  // [T, H, K/2], complex
  torch::Tensor Transitions(const torch::Tensor& x, const ops::Sequences& sequences) override;  // [T, H, K, K]
  int64_t state_size() const override { return heads_ * key_width_ * value_width_; }
  std::vector<std::string> WithoutWeightDecay() const override;  // the biases

 private:
  struct Turn {
    torch::Tensor dt;     // [T, H]
    torch::Tensor decay;  // [T, H]
    torch::Tensor angle;  // [T, H, K/2]
  };
  Turn TurnOf(const torch::Tensor& dt, const torch::Tensor& a, const torch::Tensor& w) const;  // of the projections
  Turn TurnOf(const torch::Tensor& x);

  int64_t heads_, key_width_, value_width_;  // of one head
  Linear q_proj_{nullptr}, k_proj_{nullptr}, v_proj_{nullptr}, g_proj_{nullptr}, o_proj_{nullptr};
  Linear dt_proj_{nullptr}, a_proj_{nullptr}, angle_proj_{nullptr};
  RmsNorm norm_{nullptr};
};
TORCH_MODULE(Rotation);

LayerInfo RotationInfo();

}  // namespace lrnn
