// Recurrences over packed sequences in ATen, one step of all sequences at a time, and where they end.
#pragma once

#include <functional>
#include <vector>

#include "lrnn/ops/sequences.h"
#include "lrnn/ops/torch.h"

namespace lrnn::ops {

// The order in which a recurrence takes tokens: step t takes token t of each sequence that has one, the longest
// sequences first, so that those still running are the first of all.
class StepOrder {
 public:
  explicit StepOrder(const Sequences& sequences);

  int64_t steps() const { return static_cast<int64_t>(counts_.size()); }
  int64_t count(int64_t t) const { return counts_[t]; }                 // of tokens of step t
  const std::vector<int64_t>& sequences() const { return sequences_; }  // [N] longest first
  const std::vector<int64_t>& rows() const { return rows_; }            // [T] all tokens, step by step

  // What each step takes of x: [T, ...]. The rows are gathered at once, and so are their gradients: gathered step by
  // step, each step's gradient would be as long as x.
  std::vector<torch::Tensor> Split(const torch::Tensor& x) const;

 private:
  std::vector<int64_t> sequences_, rows_, counts_;
};

// What the n tokens of step t do, given the states [n, ...] before them.
struct StepResult {
  torch::Tensor states;   // [n, ...] after them
  torch::Tensor outputs;  // [n, ...]
};
using Step = std::function<StepResult(int64_t t, const torch::Tensor& states)>;

struct StepsResult {
  torch::Tensor outputs;       // [T, ...]
  torch::Tensor final_states;  // [N, ...]
};

// From the states before each sequence, [N, ...]. `no_outputs` is what no token at all would give: [0, ...]. On any
// device.
StepsResult WalkSteps(const torch::Tensor& initial, const torch::Tensor& no_outputs, const StepOrder& order,
                      const Step& step);

// The same for recurrences whose outputs are their states: the states after every token, [T, ...].
using ScanStep = std::function<torch::Tensor(int64_t t, const torch::Tensor& states)>;
torch::Tensor ScanSteps(const torch::Tensor& initial, const StepOrder& order, const ScanStep& step);

// The states after each sequence, [N, ...], of those after every token, [T, ...]. An empty sequence ends where it
// begins: in its row of `initial`, or in 0.
torch::Tensor LastStates(const torch::Tensor& states, const Sequences& sequences,
                         const c10::optional<torch::Tensor>& initial = c10::nullopt);

}  // namespace lrnn::ops
