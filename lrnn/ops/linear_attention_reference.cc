#include "lrnn/ops/linear_attention.h"

namespace lrnn::ops {

LinearAttentionResult LinearAttentionReference(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                                               const torch::Tensor& decay, const LinearAttentionOptions& options,
                                               const Sequences& sequences,
                                               const c10::optional<torch::Tensor>& initial_state) {
  const int64_t H = v.size(1), K = q.size(2), V = v.size(2), heads_of_group = H / q.size(1);
  std::vector<torch::Tensor> outputs{q.new_empty({0, H, V})}, states;
  for (int64_t i = 0; i < sequences.count(); ++i) {
    torch::Tensor S = initial_state ? (*initial_state)[i] : q.new_zeros({H, K, V});
    for (int64_t t = sequences.begin(i); t < sequences.end(i); ++t) {
      const torch::Tensor query = q[t].repeat_interleave(heads_of_group, 0).unsqueeze(1);  // [H, 1, K]
      const torch::Tensor key = k[t].repeat_interleave(heads_of_group, 0).unsqueeze(2);    // [H, K, 1]
      S = decay[t].view({H, -1, 1}) * S + key.matmul(v[t].unsqueeze(1));
      outputs.push_back(options.scale * query.matmul(S).transpose(0, 1));  // [1, H, V]
    }
    states.push_back(S);
  }
  LinearAttentionResult result{torch::cat(outputs), {}};
  if (options.return_final_state) {
    result.final_state = states.empty() ? q.new_zeros({0, H, K, V}) : torch::stack(states);
  }
  return result;
}

}  // namespace lrnn::ops
