#include "lrnn/ops/scan_steps.h"

#include <algorithm>
#include <numeric>

namespace lrnn::ops {

using torch::Tensor;

namespace {

Tensor Index(const std::vector<int64_t>& rows, const Tensor& of) {
  return torch::tensor(rows, torch::kInt64).to(of.device());
}

}  // namespace

StepOrder::StepOrder(const Sequences& sequences) : sequences_(sequences.count()) {
  std::iota(sequences_.begin(), sequences_.end(), 0);
  std::stable_sort(sequences_.begin(), sequences_.end(),
                   [&](int64_t a, int64_t b) { return sequences.length(a) > sequences.length(b); });
  rows_.reserve(sequences.tokens());
  for (int64_t t = 0, running = sequences.count(); t < sequences.max_length(); ++t) {
    while (sequences.length(sequences_[running - 1]) <= t) --running;
    for (int64_t i = 0; i < running; ++i) rows_.push_back(sequences.begin(sequences_[i]) + t);
    counts_.push_back(running);
  }
}

std::vector<Tensor> StepOrder::Split(const Tensor& x) const {
  return x.index_select(0, Index(rows_, x)).split_with_sizes(counts_);
}

StepsResult WalkSteps(const Tensor& initial, const Tensor& no_outputs, const StepOrder& order, const Step& step) {
  Tensor states = initial.index_select(0, Index(order.sequences(), initial));
  std::vector<Tensor> outputs{no_outputs}, finished;  // finished: the shortest sequences first
  for (int64_t t = 0; t < order.steps(); ++t) {
    const int64_t running = order.count(t);
    if (running < states.size(0)) {
      finished.push_back(states.slice(0, running));
      states = states.slice(0, 0, running);
    }
    const StepResult result = step(t, states);
    states = result.states;
    outputs.push_back(result.outputs);
  }
  finished.push_back(states);
  std::reverse(finished.begin(), finished.end());
  return {torch::cat(outputs).index_select(0, Index(order.rows(), initial).argsort()),
          torch::cat(finished).index_select(0, Index(order.sequences(), initial).argsort())};
}

Tensor ScanSteps(const Tensor& initial, const StepOrder& order, const ScanStep& step) {
  const auto both = [&](int64_t t, const Tensor& states) -> StepResult {
    const Tensor next = step(t, states);
    return {next, next};
  };
  return WalkSteps(initial, initial.slice(0, 0, 0), order, both).outputs;
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
