#include <algorithm>
#include <numeric>

#include "lrnn/ops/selective_scan.h"

namespace lrnn::ops {

// Sequences are taken longest first, so that those still running at step t are a prefix of the batch.
SelectiveScanResult SelectiveScanAten(const torch::Tensor& u, const torch::Tensor& delta, const torch::Tensor& A,
                                      const torch::Tensor& B, const torch::Tensor& C,
                                      const c10::optional<torch::Tensor>& D, const c10::optional<torch::Tensor>& z,
                                      const c10::optional<torch::Tensor>& delta_bias,
                                      const SelectiveScanOptions& options, const Sequences& sequences,
                                      const c10::optional<torch::Tensor>& initial_state) {
  const int64_t S = sequences.count();
  std::vector<int64_t> order(S);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return sequences.length(a) > sequences.length(b); });
  const auto to_index = [&](const std::vector<int64_t>& places) {
    return torch::tensor(places, torch::kInt64).to(u.device());
  };

  // What does not depend on the state is done for all tokens at once.
  torch::Tensor dt = delta_bias ? delta + *delta_bias : delta;
  if (options.delta_softplus) dt = torch::softplus(dt);
  const torch::Tensor dx = dt * u;

  torch::Tensor h =
      initial_state ? initial_state->index_select(0, to_index(order)) : u.new_zeros({S, A.size(0), A.size(1)});
  std::vector<torch::Tensor> outputs{u.new_empty({0, u.size(1)})}, finished;
  std::vector<int64_t> output_rows;
  for (int64_t t = 0, running = S; t < sequences.max_length(); ++t) {
    const int64_t before = running;
    while (sequences.length(order[running - 1]) <= t) --running;
    if (running < before) {
      finished.push_back(h.slice(0, running));
      h = h.slice(0, 0, running);
    }
    std::vector<int64_t> rows(running);
    for (int64_t i = 0; i < running; ++i) rows[i] = sequences.begin(order[i]) + t;
    output_rows.insert(output_rows.end(), rows.begin(), rows.end());
    const torch::Tensor index = to_index(rows);
    torch::Tensor a = torch::exp(dt.index_select(0, index).unsqueeze(2) * A);  // [running, D, N]
    if (options.allow_neg_eigval) a = 2 * a - 1;
    h = a * h + dx.index_select(0, index).unsqueeze(2) * B.index_select(0, index).unsqueeze(1);
    outputs.push_back(h.matmul(C.index_select(0, index).unsqueeze(2)).squeeze(2));  // [running, D]
  }
  finished.push_back(h);
  std::reverse(finished.begin(), finished.end());

  SelectiveScanResult result{torch::cat(outputs).index_select(0, to_index(output_rows).argsort()), {}};
  if (D) result.y = result.y + *D * u;
  if (z) result.y = result.y * torch::silu(*z);
  if (options.return_final_state) {
    result.final_state = torch::cat(finished).index_select(0, to_index(order).argsort());
  }
  return result;
}

}  // namespace lrnn::ops
