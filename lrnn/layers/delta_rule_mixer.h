// What DeltaNet, Gated DeltaNet and DeltaProduct share: a linear RNN whose transition is a product of n_h generalised
// Householder matrices and, if wanted, a decay.
//
//   q = silu(conv(W_q x)),   k_j, v_j = silu(conv(W_k x)), silu(conv(W_v x)),   j = 0 .. n_h-1
//   q, k_j <- q / |q|, k_j / |k_j|                                                          per head
//   beta_j = sigmoid(W_b x),   2 sigmoid(W_b x) with allow_neg_eigval                       one per head
//     with beta_margin m > 0 the sigmoid is stretched, s <- min(max((1 + 2 m) s - m, 0), 1), so that it is 0 and 1 at
//     finite W_b x: I - 2 k k^T exactly is a reflection, which shrinks no state however long the sequence. Where it is
//     stretched no gradient reaches W_b x; with beta_margin_in_training false that is so in use (torch's eval()) only
//   a = exp(-exp(A_log) softplus(W_a x + dt_bias)),   1 without forget gate                 one per head
//   S <- a S,   then for each j:   S <- (I - beta_j k_j k_j^T) S + beta_j k_j v_j^T
//   o = S^T q / sqrt(K)        y = W_o (RMSNorm(o) silu(W_g x)),   W_o RMSNorm(o) without output gate
//
// x, y: [T, D]   q: [T, H, K]   k: [T, n_h, H, K]   v: [T, n_h, H, V]   beta: [T, n_h, H]   a: [T, H]   S: [H, K, V]
// q and k may have fewer heads, each then serves several consecutive heads of v.
//
// Eigenvalues of A = a prod_j (I - beta_j k_j k_j^T):  K - n_h times a, and n_h others of modulus at most a. With n_h =
// 1 the other is a (1 - beta), in [0, 1] or, with allow_neg_eigval, [-1, 1]. With n_h = 2 and beta <= 1 they are those
// of a product of two positive matrices: in [0, 1]. Products of more can have complex and negative ones. Parameter
// names and shapes as in flash-linear-attention's checkpoints.
#pragma once

#include "lrnn/base/rng.h"
#include "lrnn/io/delta_rule_config.h"
#include "lrnn/layers/linear.h"
#include "lrnn/layers/rms_norm.h"
#include "lrnn/layers/sequence_mixer.h"
#include "lrnn/layers/short_conv.h"

namespace lrnn {

// beta of logits z = W_b x of any shape. in_training: what torch's train() and eval() say, of which a margin may
// depend.
torch::Tensor DeltaRuleBeta(const torch::Tensor& z, const DeltaRuleConfig& config, bool in_training);

class DeltaRuleMixer : public LinearMixer {
 public:
  DeltaRuleMixer(const DeltaRuleConfig& config, Rng& rng);

  // State: the inputs of the three convolutions [N, W-1, .] (when there are any), then S [N, H, K, V].
  torch::Tensor forward(const torch::Tensor& x, const ops::Sequences& sequences, MixerState* state = nullptr) override;
  EigenvalueRange eigenvalue_range() const override;
  // [T, H, n_h], complex for n_h > 1; with forget gate [T, H, n_h + 1], the last is a (where K > n_h).
  torch::Tensor Eigenvalues(const torch::Tensor& x, const ops::Sequences& sequences) override;
  torch::Tensor Transitions(const torch::Tensor& x, const ops::Sequences& sequences) override;  // [T, H, K, K]
  int64_t state_size() const override;
  std::vector<std::string> WithoutWeightDecay() const override;

 private:
  struct Projected {
    torch::Tensor q, k, v, beta;         // [T, H, K], [T, n_h, H, K], [T, n_h, H, V], [T, n_h, H]
    c10::optional<torch::Tensor> decay;  // [T, H]
    torch::Tensor output_gate;           // [T, H V], undefined without one
  };
  Projected Project(const torch::Tensor& x, const ops::Sequences& sequences, MixerState* state);

  const DeltaRuleConfig config_;
  Linear q_proj_{nullptr}, k_proj_{nullptr}, v_proj_{nullptr}, b_proj_{nullptr}, a_proj_{nullptr}, g_proj_{nullptr},
      o_proj_{nullptr};
  torch::Tensor A_log_, dt_bias_;  // [H], undefined without forget gate
  ShortConv q_conv_{nullptr}, k_conv_{nullptr}, v_conv_{nullptr};
  RmsNorm o_norm_{nullptr};
};

}  // namespace lrnn
