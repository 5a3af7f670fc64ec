#include "lrnn/ops/scan_steps.h"

#include <algorithm>
#include <numeric>

namespace lrnn::ops {

using torch::Tensor;

// Sequences are taken longest first, so that those still running at step t are a prefix of the batch.
StepsResult WalkSteps(const Tensor& initial, const Tensor& no_outputs, const Sequences& sequences, const Step& step) {
  const int64_t N = sequences.count();
  std::vector<int64_t> order(N);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return sequences.length(a) > sequences.length(b); });
  const auto on_device = [&](const std::vector<int64_t>& index) {
    return torch::tensor(index, torch::kInt64).to(initial.device());
  };
  Tensor states = initial.index_select(0, on_device(order));
  std::vector<Tensor> outputs{no_outputs}, finished;  // finished: the shortest sequences first
  std::vector<int64_t> output_rows;
  for (int64_t t = 0, running = N; t < sequences.max_length(); ++t) {
    const int64_t before = running;
    while (sequences.length(order[running - 1]) <= t) --running;
    if (running < before) {
      finished.push_back(states.slice(0, running));
      states = states.slice(0, 0, running);
    }
    std::vector<int64_t> rows(running);
    for (int64_t i = 0; i < running; ++i) rows[i] = sequences.begin(order[i]) + t;
    output_rows.insert(output_rows.end(), rows.begin(), rows.end());
    const StepResult result = step(on_device(rows), states);
    states = result.states;
    outputs.push_back(result.outputs);
  }
  finished.push_back(states);
  std::reverse(finished.begin(), finished.end());
  return {torch::cat(outputs).index_select(0, on_device(output_rows).argsort()),
          torch::cat(finished).index_select(0, on_device(order).argsort())};
}

Tensor ScanSteps(const Tensor& initial, const Sequences& sequences, const ScanStep& step) {
  const auto both = [&](const Tensor& rows, const Tensor& states) -> StepResult {
    const Tensor next = step(rows, states);
    return {next, next};
  };
  return WalkSteps(initial, initial.slice(0, 0, 0), sequences, both).outputs;
}

Tensor LastStates(const Tensor& states, const Sequences& sequences, const c10::optional<Tensor>& initial) {
  const int64_t T = sequences.tokens(), N = sequences.count();
  std::vector<int64_t> rows(N);
  bool any_empty = false;
  for (int64_t i = 0; i < N; ++i) {
    const bool is_empty = sequences.length(i) == 0;
    rows[i] = is_empty ? T + i : sequences.end(i) - 1;
    any_empty |= is_empty;
  }
  Tensor table = states;
  if (any_empty) {
    std::vector<int64_t> shape = states.sizes().vec();
    shape[0] = N;
    table = torch::cat({states, initial ? *initial : states.new_zeros(shape)});
  }
  return table.index_select(0, torch::tensor(rows, torch::kInt64).to(states.device()));
}

}  // namespace lrnn::ops
