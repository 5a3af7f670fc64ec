#include <algorithm>
#include <numeric>

#include "lrnn/ops/delta_rule.h"

namespace lrnn::ops {

// Sequences are taken longest first, so that those still running at step t are a prefix of the batch.
DeltaRuleResult DeltaRuleAten(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                              const torch::Tensor& beta, const c10::optional<torch::Tensor>& decay,
                              const DeltaRuleOptions& options, const Sequences& sequences,
                              const c10::optional<torch::Tensor>& initial_state) {
  const int64_t N = sequences.count(), n = k.size(1), H = q.size(1), K = q.size(2), V = v.size(3);
  std::vector<int64_t> order(N);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return sequences.length(a) > sequences.length(b); });
  const auto index = torch::TensorOptions(torch::kInt64);
  const torch::Tensor order_index = torch::tensor(order, index).to(q.device());

  torch::Tensor S = initial_state ? initial_state->index_select(0, order_index) : q.new_zeros({N, H, K, V});
  std::vector<torch::Tensor> outputs{q.new_empty({0, H, V})}, finished;
  std::vector<int64_t> output_rows;
  for (int64_t t = 0, running = N; t < sequences.max_length(); ++t) {
    const int64_t before = running;
    while (sequences.length(order[running - 1]) <= t) --running;
    if (running < before) {
      finished.push_back(S.slice(0, running));
      S = S.slice(0, 0, running);
    }
    std::vector<int64_t> rows(running);
    for (int64_t i = 0; i < running; ++i) rows[i] = sequences.begin(order[i]) + t;
    output_rows.insert(output_rows.end(), rows.begin(), rows.end());
    const torch::Tensor row_index = torch::tensor(rows, index).to(q.device());
    const torch::Tensor keys = k.index_select(0, row_index), values = v.index_select(0, row_index);
    const torch::Tensor betas = beta.index_select(0, row_index);
    if (decay) S = S * decay->index_select(0, row_index).view({running, H, 1, 1});
    for (int64_t j = 0; j < n; ++j) {
      const torch::Tensor key = keys.select(1, j).unsqueeze(2);                                 // [N, H, 1, K]
      const torch::Tensor error = values.select(1, j).unsqueeze(2) - key.matmul(S);             // [N, H, 1, V]
      S = S + key.transpose(2, 3).matmul(betas.select(1, j).view({running, H, 1, 1}) * error);  // [N, H, K, V]
    }
    outputs.push_back(options.scale * q.index_select(0, row_index).unsqueeze(2).matmul(S).squeeze(2));
  }
  finished.push_back(S);
  std::reverse(finished.begin(), finished.end());

  const auto inverse = [&](const std::vector<int64_t>& places) {
    return torch::tensor(places, index).argsort().to(q.device());
  };
  DeltaRuleResult result{torch::cat(outputs).index_select(0, inverse(output_rows)), {}};
  if (options.return_final_state) result.final_state = torch::cat(finished).index_select(0, inverse(order));
  return result;
}

}  // namespace lrnn::ops
