// mLSTM: a linear RNN with a matrix state, a normaliser and exponential input gates (xLSTM; Beck et al., 2024).
//
//   u, z = W_up x        c = silu(conv(u))        q, k = blockdiag(c)        v = blockdiag(u)        K = width of a
//   head i = W_i (q, k, v) + b_i        f = W_f (q, k, v) + b_f                                             one per
//   head a = sigmoid(f),   2 sigmoid(f) - 1 with allow_neg_eigval C_t = a C_{t-1} + e^i k v^T / sqrt(K)        n_t = a
//   n_{t-1} + e^i k / sqrt(K) h_t = C_t^T q / max(|n_t . q|, 1)        y = W_down ((GroupNorm(h) + skip c) silu(z))
//
// x, y: [T, D]   u, z, c: [T, I]   q, k, v, h: [T, H, K]   C: [H, K, K]   n: [H, K]
// Eigenvalues of the transition: a, in (0, 1) or, with allow_neg_eigval, (-1, 1).
//
// e^i overflows, so C and n are kept times e^-m with m_t = max(log|a_t| + m_{t-1}, i_t): the gates become
// a_t e^(m_{t-1} - m_t) and e^(i_t - m_t), neither above 1 in magnitude, and h = C^T q / (max(|n . q|, e^-m) + 1e-6).
// Magnitudes go through logarithms and the sign of a beside them: signed log-space. Negative a are an experiment (the
// paper on negative eigenvalues expects little of them in layers with a normalised state).
// Parameter names and shapes inside the layer as in NX-AI's xlstm; the blocks around it are those of all models here
// (RMSNorm where xlstm has a LayerNorm).
#pragma once

#include "lrnn/base/rng.h"
#include "lrnn/io/fields.h"
#include "lrnn/io/mlstm_config.h"
#include "lrnn/layers/linear.h"
#include "lrnn/layers/registry.h"
#include "lrnn/layers/sequence_mixer.h"
#include "lrnn/layers/short_conv.h"

namespace lrnn {

class MlstmImpl : public LinearMixer {
 public:
  MlstmImpl(const Fields& config, Rng& rng);

  // State: the inputs of the convolution [N, W-1, I], m [N, H], and C with n as its last column [N, H, K, K+1], both
  // times e^-m.
  torch::Tensor forward(const torch::Tensor& x, const ops::Sequences& sequences, MixerState* state = nullptr) override;
  EigenvalueRange eigenvalue_range() const override;
  torch::Tensor Eigenvalues(const torch::Tensor& x, const ops::Sequences& sequences) override;  // [T, H]
  torch::Tensor Transitions(const torch::Tensor& x, const ops::Sequences& sequences) override;  // [T, H, 1, 1]
  int64_t state_size() const override;
  bool rescales_state() const override { return true; }
  std::vector<std::string> WithoutWeightDecay() const override;

 private:
  struct Projected {
    torch::Tensor z, c, q, k, v;  // [T, I]
    torch::Tensor i, f;           // [T, H]
  };
  Projected Project(const torch::Tensor& x, const ops::Sequences& sequences, torch::Tensor* conv_state);
  torch::Tensor Decay(const torch::Tensor& f) const;

  MlstmConfig sizes_;
  double eps_;
  bool allow_neg_eigval_;
  Linear up_{nullptr}, down_{nullptr}, input_gate_{nullptr}, forget_gate_{nullptr};
  ShortConv conv_{nullptr};
  torch::Tensor q_weight_, k_weight_, v_weight_;  // [blocks, size, size]
  torch::Tensor norm_weight_;                     // [I], the scale less 1
  torch::Tensor skip_;                            // [I]
};
TORCH_MODULE(Mlstm);

LayerInfo MlstmInfo();

}  // namespace lrnn
