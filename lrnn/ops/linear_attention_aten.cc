#include <algorithm>
#include <numeric>

#include "lrnn/ops/linear_attention.h"

namespace lrnn::ops {

// Sequences are taken longest first, so that those still running at step t are a prefix of the batch.
LinearAttentionResult LinearAttentionAten(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                                          const torch::Tensor& decay, const LinearAttentionOptions& options,
                                          const Sequences& sequences,
                                          const c10::optional<torch::Tensor>& initial_state) {
  const int64_t N = sequences.count(), H = v.size(1), K = q.size(2), V = v.size(2), heads_of_group = H / q.size(1);
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
    const auto of_heads = [&](const torch::Tensor& x) {
      return x.index_select(0, row_index).repeat_interleave(heads_of_group, 1);  // [N, H, K]
    };
    const torch::Tensor values = v.index_select(0, row_index).unsqueeze(2);              // [N, H, 1, V]
    const torch::Tensor a = decay.index_select(0, row_index).view({running, H, -1, 1});  // [N, H, K or 1, 1]
    S = a * S + of_heads(k).unsqueeze(3) * values;                                       // [N, H, K, V]
    outputs.push_back(options.scale * of_heads(q).unsqueeze(2).matmul(S).squeeze(2));
  }
  finished.push_back(S);
  std::reverse(finished.begin(), finished.end());

  const auto inverse = [&](const std::vector<int64_t>& places) {
    return torch::tensor(places, index).argsort().to(q.device());
  };
  LinearAttentionResult result{torch::cat(outputs).index_select(0, inverse(output_rows)), {}};
  if (options.return_final_state) result.final_state = torch::cat(finished).index_select(0, inverse(order));
  return result;
}

}  // namespace lrnn::ops
