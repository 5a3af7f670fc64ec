// What recurrences whose outputs are their states share, over packed sequences: a walk in ATen, and where they end.
#pragma once

#include <torch/torch.h>

#include <functional>

#include "lrnn/ops/sequences.h"

namespace lrnn::ops {

// The states [n, ...] after n tokens, given the rows of these tokens (int64 [n]) and the states before them.
using ScanStep = std::function<torch::Tensor(const torch::Tensor& rows, const torch::Tensor& states)>;

// The states after every token, [T, ...], from those before each sequence, [N, ...]: one step of all sequences at a
// time, on any device.
torch::Tensor ScanSteps(const torch::Tensor& initial, const Sequences& sequences, const ScanStep& step);

// The states after each sequence, [N, ...], of those after every token, [T, ...]. An empty sequence ends where it
// begins: in its row of `initial`, or in 0.
torch::Tensor LastStates(const torch::Tensor& states, const Sequences& sequences,
                         const c10::optional<torch::Tensor>& initial = c10::nullopt);

}  // namespace lrnn::ops
