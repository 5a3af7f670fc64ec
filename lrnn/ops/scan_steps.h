// Recurrences over packed sequences in ATen, one step of all sequences at a time, and where they end.
#pragma once

#include <functional>

#include "lrnn/ops/sequences.h"
#include "lrnn/ops/torch.h"

namespace lrnn::ops {

// What n tokens do, given their rows (int64 [n]) and the states [n, ...] before them.
struct StepResult {
  torch::Tensor states;   // [n, ...] after them
  torch::Tensor outputs;  // [n, ...]
};
using Step = std::function<StepResult(const torch::Tensor& rows, const torch::Tensor& states)>;

struct StepsResult {
  torch::Tensor outputs;       // [T, ...]
  torch::Tensor final_states;  // [N, ...]
};

// From the states before each sequence, [N, ...]. `no_outputs` is what no token at all would give: [0, ...]. On any
// device.
StepsResult WalkSteps(const torch::Tensor& initial, const torch::Tensor& no_outputs, const Sequences& sequences,
                      const Step& step);

// The same for recurrences whose outputs are their states: the states after every token, [T, ...].
using ScanStep = std::function<torch::Tensor(const torch::Tensor& rows, const torch::Tensor& states)>;
torch::Tensor ScanSteps(const torch::Tensor& initial, const Sequences& sequences, const ScanStep& step);

// The states after each sequence, [N, ...], of those after every token, [T, ...]. An empty sequence ends where it
// begins: in its row of `initial`, or in 0.
torch::Tensor LastStates(const torch::Tensor& states, const Sequences& sequences,
                         const c10::optional<torch::Tensor>& initial = c10::nullopt);

}  // namespace lrnn::ops
