#include "lrnn/ops/delta_rule.h"

namespace lrnn::ops {

DeltaRuleResult DeltaRuleReference(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                                   const torch::Tensor& beta, const c10::optional<torch::Tensor>& decay,
                                   const DeltaRuleOptions& options, const Sequences& sequences,
                                   const c10::optional<torch::Tensor>& initial_state) {
  const int64_t n = k.size(1), H = q.size(1), K = q.size(2), V = v.size(3);
  const torch::Tensor identity = torch::eye(K, q.options());
  std::vector<torch::Tensor> outputs{q.new_empty({0, H, V})}, states;
  for (int64_t i = 0; i < sequences.count(); ++i) {
    torch::Tensor S = initial_state ? (*initial_state)[i] : q.new_zeros({H, K, V});
    for (int64_t t = sequences.begin(i); t < sequences.end(i); ++t) {
      if (decay) S = (*decay)[t].view({H, 1, 1}) * S;
      for (int64_t j = 0; j < n; ++j) {
        const torch::Tensor key = k[t][j].unsqueeze(2);      // [H, K, 1]
        const torch::Tensor value = v[t][j].unsqueeze(1);    // [H, 1, V]
        const torch::Tensor b = beta[t][j].view({H, 1, 1});  // [H, 1, 1]
        S = (identity - b * key.matmul(key.transpose(1, 2))).matmul(S) + b * key.matmul(value);
      }
      outputs.push_back(options.scale * q[t].unsqueeze(1).matmul(S).transpose(0, 1));  // [1, H, V]
    }
    states.push_back(S);
  }
  DeltaRuleResult result{torch::cat(outputs), {}};
  if (options.return_final_state) {
    result.final_state = states.empty() ? q.new_zeros({0, H, K, V}) : torch::stack(states);
  }
  return result;
}

}  // namespace lrnn::ops
