// Linear attention with decay: a linear RNN whose state is a matrix and whose transition is diagonal, on tensors with
// autograd.
//
//   S_t = Diag(a_t) S_{t-1} + k_t v_t^T        o_t = scale S_t^T q_t
//
// q, k: [T, G, K]   v: [T, H, V]   a: [T, H, K], or [T, H] for one value a head   S: [N, H, K, V]   o: [T, H, V]
// Head h reads the q and k of group h / (H / G).
// The eigenvalues of the transition are the elements of a, of any sign. The gradient of a is finite everywhere, at 0
// too.
//
// Each sequence starts from its row of initial_state (zeros without one) and ends in its row of final_state; both carry
// gradients. Derivation: docs/math/linear_attention.md.
#pragma once

#include "lrnn/kernels/linear_attention.h"
#include "lrnn/ops/sequences.h"
#include "lrnn/ops/torch.h"

namespace lrnn::ops {

struct LinearAttentionOptions {
  double scale = 1.0;
  bool return_final_state = false;
  kernels::LinearAttentionForm form = kernels::LinearAttentionForm::kAuto;  // of the fused kernel
};

struct LinearAttentionResult {
  torch::Tensor o;            // [T, H, V]
  torch::Tensor final_state;  // [N, H, K, V]; undefined unless asked for
};

// The one to call: checks its arguments, then runs the fused kernel on CPU tensors of float or double and the ATen form
// on all others. The kernel supports one differentiation.
LinearAttentionResult LinearAttention(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                                      const torch::Tensor& decay, const LinearAttentionOptions& options,
                                      const Sequences& sequences,
                                      const c10::optional<torch::Tensor>& initial_state = c10::nullopt);

// Plain ATen, one step of all sequences at a time: any device, any floating type, differentiable any number of times.
LinearAttentionResult LinearAttentionAten(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                                          const torch::Tensor& decay, const LinearAttentionOptions& options,
                                          const Sequences& sequences,
                                          const c10::optional<torch::Tensor>& initial_state = c10::nullopt);

// The recurrence as it stands above, sequence by sequence, token by token: what the other two are tested against.
LinearAttentionResult LinearAttentionReference(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                                               const torch::Tensor& decay, const LinearAttentionOptions& options,
                                               const Sequences& sequences,
                                               const c10::optional<torch::Tensor>& initial_state = c10::nullopt);

}  // namespace lrnn::ops
