// A linear RNN whose transitions are dense matrices, on tensors with autograd.
//
//   S_t = A_t S_{t-1} + B_t        A: [T, n, n]   S, B: [T, n, m]   S before each sequence: [N, n, m], or 0
//
// With `which` (int64 [T]) A is a table of matrices, [R, n, n], and A_t is row which[t] of it. B may be left out (0),
// but then there must be an initial state. Nothing bounds the eigenvalues of A. The outputs are the states: LastStates
// (lrnn/ops/scan_steps.h) of them is where the sequences end.
#pragma once

#include "lrnn/ops/sequences.h"
#include "lrnn/ops/torch.h"

namespace lrnn::ops {

// The one to call: checks its arguments, then runs the fused kernel on CPU tensors of float or double and the ATen form
// on all others. The kernel supports one differentiation.
torch::Tensor MatrixScan(const torch::Tensor& A, const c10::optional<torch::Tensor>& B, const Sequences& sequences,
                         const c10::optional<torch::Tensor>& initial = c10::nullopt,
                         const c10::optional<torch::Tensor>& which = c10::nullopt);

// Plain ATen, one step of all sequences at a time: any device, any floating type, differentiable any number of times.
torch::Tensor MatrixScanAten(const torch::Tensor& A, const c10::optional<torch::Tensor>& B, const Sequences& sequences,
                             const c10::optional<torch::Tensor>& initial = c10::nullopt,
                             const c10::optional<torch::Tensor>& which = c10::nullopt);

// The recurrence as it stands above, sequence by sequence, token by token: what the other two are tested against.
torch::Tensor MatrixScanReference(const torch::Tensor& A, const c10::optional<torch::Tensor>& B,
                                  const Sequences& sequences,
                                  const c10::optional<torch::Tensor>& initial = c10::nullopt,
                                  const c10::optional<torch::Tensor>& which = c10::nullopt);

}  // namespace lrnn::ops
