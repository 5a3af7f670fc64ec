// Delta rule: a linear RNN whose transition is a product of generalised Householder matrices, on tensors with autograd.
//
//   for each token t:  S <- decay_t S
//                      for j = 0 .. n_h-1:  S <- (I - beta_tj k_tj k_tj^T) S + beta_tj k_tj v_tj^T
//                      o_t = scale S^T q_t
//
// q: [T, H, K]   k: [T, n_h, H, K]   v: [T, n_h, H, V]   beta: [T, n_h, H]   decay: [T, H]
// S: [N, H, K, V]   o: [T, H, V]
// With |k| = 1 the eigenvalues of a factor are 1 and 1 - beta: beta in [0, 2] gives [-1, 1].
//
// Each sequence starts from its row of initial_state (zeros without one) and ends in its row of final_state; both carry
// gradients. Derivation: docs/math/delta_rule.md.
#pragma once

#include "lrnn/ops/sequences.h"
#include "lrnn/ops/torch.h"

namespace lrnn::ops {

struct DeltaRuleOptions {
  double scale = 1.0;
  bool return_final_state = false;
};

struct DeltaRuleResult {
  torch::Tensor o;            // [T, H, V]
  torch::Tensor final_state;  // [N, H, K, V]; undefined unless asked for
};

// The one to call: checks its arguments, then runs the fused kernel on CPU tensors of float or double and the ATen form
// on all others. The kernel supports one differentiation.
DeltaRuleResult DeltaRule(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                          const torch::Tensor& beta, const c10::optional<torch::Tensor>& decay,
                          const DeltaRuleOptions& options, const Sequences& sequences,
                          const c10::optional<torch::Tensor>& initial_state = c10::nullopt);

// Plain ATen, one step of all sequences at a time: any device, any floating type, differentiable any number of times.
DeltaRuleResult DeltaRuleAten(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                              const torch::Tensor& beta, const c10::optional<torch::Tensor>& decay,
                              const DeltaRuleOptions& options, const Sequences& sequences,
                              const c10::optional<torch::Tensor>& initial_state = c10::nullopt);

// The recurrence as it stands above, sequence by sequence, token by token: what the other two are tested against.
DeltaRuleResult DeltaRuleReference(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                                   const torch::Tensor& beta, const c10::optional<torch::Tensor>& decay,
                                   const DeltaRuleOptions& options, const Sequences& sequences,
                                   const c10::optional<torch::Tensor>& initial_state = c10::nullopt);

}  // namespace lrnn::ops
