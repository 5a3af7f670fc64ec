// A diagonal recurrence, the simplest linear RNN, on tensors with autograd.
//
//   h_t = a_t h_{t-1} + b_t        a, b, h: [T, D]   h before each sequence: [N, D], or 0
//
// The eigenvalues of the transition are the elements of a, of any sign. The outputs are the states: LastStates
// (lrnn/ops/scan_steps.h) of them is where the sequences end.
#pragma once

#include "lrnn/ops/sequences.h"
#include "lrnn/ops/torch.h"

namespace lrnn::ops {

// The one to call: checks its arguments, then runs the fused kernel on CPU tensors of float or double and the ATen form
// on all others. The kernel supports one differentiation.
torch::Tensor DiagonalScan(const torch::Tensor& a, const torch::Tensor& b, const Sequences& sequences,
                           const c10::optional<torch::Tensor>& initial = c10::nullopt);

// Plain ATen, one step of all sequences at a time: any device, any floating type, differentiable any number of times.
torch::Tensor DiagonalScanAten(const torch::Tensor& a, const torch::Tensor& b, const Sequences& sequences,
                               const c10::optional<torch::Tensor>& initial = c10::nullopt);

// The recurrence as it stands above, sequence by sequence, token by token: what the other two are tested against.
torch::Tensor DiagonalScanReference(const torch::Tensor& a, const torch::Tensor& b, const Sequences& sequences,
                                    const c10::optional<torch::Tensor>& initial = c10::nullopt);

}  // namespace lrnn::ops
