// Selective scan (Mamba): a linear RNN with a diagonal, input-dependent transition, on tensors with autograd.
//
//   dt_t = softplus(delta_t + delta_bias)                  softplus and delta_bias optional
//   a_t  = exp(dt_t A)          or, allow_neg_eigval,      2 exp(dt_t A) - 1
//   h_t  = a_t h_{t-1} + dt_t B_t u_t                      the input term is the same for both ranges
//   y_t  = (C_t . h_t + D u_t) silu(z_t)                   D and z optional
//
// u, delta, z, y: [T, D]   A: [D, N]   B, C: [T, N]   D, delta_bias: [D]   h: [S, D, N], S = number of sequences
// With A < 0 the eigenvalues a_t lie in (0, 1), or in (-1, 1) with allow_neg_eigval.
// Each sequence starts from its row of initial_state (zeros without one) and ends in its row of final_state; both carry
// gradients. Derivation: docs/math/selective_scan.md.
#pragma once

#include "lrnn/ops/sequences.h"
#include "lrnn/ops/torch.h"

namespace lrnn::ops {

struct SelectiveScanOptions {
  bool delta_softplus = true;
  bool allow_neg_eigval = false;
  bool return_final_state = false;
};

struct SelectiveScanResult {
  torch::Tensor y;            // [T, D]
  torch::Tensor final_state;  // [S, D, N]; undefined unless asked for
};

// The one to call: checks its arguments, then runs the fused kernel on CPU tensors of float or double and the ATen form
// on all others. The kernel reads slices in place (rows may be strided, the last dimension is contiguous) and supports
// one differentiation.
SelectiveScanResult SelectiveScan(const torch::Tensor& u, const torch::Tensor& delta, const torch::Tensor& A,
                                  const torch::Tensor& B, const torch::Tensor& C, const c10::optional<torch::Tensor>& D,
                                  const c10::optional<torch::Tensor>& z, const c10::optional<torch::Tensor>& delta_bias,
                                  const SelectiveScanOptions& options, const Sequences& sequences,
                                  const c10::optional<torch::Tensor>& initial_state = c10::nullopt);

// Plain ATen, one step of all sequences at a time: any device, any floating type, differentiable any number of times.
SelectiveScanResult SelectiveScanAten(const torch::Tensor& u, const torch::Tensor& delta, const torch::Tensor& A,
                                      const torch::Tensor& B, const torch::Tensor& C,
                                      const c10::optional<torch::Tensor>& D, const c10::optional<torch::Tensor>& z,
                                      const c10::optional<torch::Tensor>& delta_bias,
                                      const SelectiveScanOptions& options, const Sequences& sequences,
                                      const c10::optional<torch::Tensor>& initial_state = c10::nullopt);

// The recurrence as it stands above, sequence by sequence, token by token: what the other two are tested against.
SelectiveScanResult SelectiveScanReference(const torch::Tensor& u, const torch::Tensor& delta, const torch::Tensor& A,
                                           const torch::Tensor& B, const torch::Tensor& C,
                                           const c10::optional<torch::Tensor>& D, const c10::optional<torch::Tensor>& z,
                                           const c10::optional<torch::Tensor>& delta_bias,
                                           const SelectiveScanOptions& options, const Sequences& sequences,
                                           const c10::optional<torch::Tensor>& initial_state = c10::nullopt);

}  // namespace lrnn::ops
