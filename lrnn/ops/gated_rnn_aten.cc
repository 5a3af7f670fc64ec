#include <algorithm>
#include <numeric>

#include "lrnn/ops/gated_rnn.h"
#include "lrnn/ops/gated_rnn_cells.h"

namespace lrnn::ops {
namespace {

// Sequences are taken longest first, so that those still running at step t are a prefix of the batch.
template <typename Step>
GatedRnnResult Aten(const torch::Tensor& x, const torch::Tensor& R, const torch::Tensor& bias,
                    const GatedRnnOptions& options, const Sequences& sequences,
                    const c10::optional<torch::Tensor>& initial_state) {
  const int64_t N = sequences.count(), H = R.size(0), K = R.size(1);
  std::vector<int64_t> order(N);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return sequences.length(a) > sequences.length(b); });
  const auto index = [&](const std::vector<int64_t>& places) {
    return torch::tensor(places, torch::TensorOptions(torch::kInt64)).to(x.device());
  };

  torch::Tensor state =
      initial_state ? initial_state->index_select(0, index(order)) : x.new_zeros({N, Step::kStates, H, K});
  std::vector<torch::Tensor> outputs{x.new_empty({0, H, K})}, finished;
  std::vector<int64_t> output_rows;
  for (int64_t t = 0, running = N; t < sequences.max_length(); ++t) {
    const int64_t before = running;
    while (sequences.length(order[running - 1]) <= t) --running;
    if (running < before) {
      finished.push_back(state.slice(0, running));
      state = state.slice(0, 0, running);
    }
    std::vector<int64_t> rows(running);
    for (int64_t i = 0; i < running; ++i) rows[i] = sequences.begin(order[i]) + t;
    output_rows.insert(output_rows.end(), rows.begin(), rows.end());
    state = Step::Next(GatesOfStep(x.index_select(0, index(rows)), state.select(1, 0), R, bias), state);
    outputs.push_back(state.select(1, 0));
  }
  finished.push_back(state);
  std::reverse(finished.begin(), finished.end());

  GatedRnnResult result{torch::cat(outputs).index_select(0, index(output_rows).argsort()), {}};
  if (options.return_final_state) result.final_state = torch::cat(finished).index_select(0, index(order).argsort());
  return result;
}

}  // namespace

GatedRnnResult SlstmAten(const torch::Tensor& x, const torch::Tensor& R, const torch::Tensor& bias,
                         const GatedRnnOptions& options, const Sequences& sequences,
                         const c10::optional<torch::Tensor>& initial_state) {
  return Aten<SlstmStep>(x, R, bias, options, sequences, initial_state);
}

GatedRnnResult LstmAten(const torch::Tensor& x, const torch::Tensor& R, const torch::Tensor& bias,
                        const GatedRnnOptions& options, const Sequences& sequences,
                        const c10::optional<torch::Tensor>& initial_state) {
  return Aten<LstmStep>(x, R, bias, options, sequences, initial_state);
}

}  // namespace lrnn::ops
