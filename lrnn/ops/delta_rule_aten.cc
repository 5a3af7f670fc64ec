#include "lrnn/ops/delta_rule.h"
#include "lrnn/ops/scan_steps.h"

namespace lrnn::ops {

DeltaRuleResult DeltaRuleAten(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                              const torch::Tensor& beta, const c10::optional<torch::Tensor>& decay,
                              const DeltaRuleOptions& options, const Sequences& sequences,
                              const c10::optional<torch::Tensor>& initial_state) {
  const int64_t N = sequences.count(), n = k.size(1), H = q.size(1), K = q.size(2), V = v.size(3);
  const StepOrder order(sequences);
  const auto queries = order.Split(q), keys = order.Split(k), values = order.Split(v), betas = order.Split(beta);
  const auto decays = decay ? order.Split(*decay) : std::vector<torch::Tensor>();
  const auto step = [&](int64_t t, torch::Tensor S) -> StepResult {
    if (decay) S = S * decays[t].view({-1, H, 1, 1});
    for (int64_t j = 0; j < n; ++j) {
      const torch::Tensor key = keys[t].select(1, j).unsqueeze(2);                            // [N, H, 1, K]
      const torch::Tensor error = values[t].select(1, j).unsqueeze(2) - key.matmul(S);        // [N, H, 1, V]
      S = S + key.transpose(2, 3).matmul(betas[t].select(1, j).view({-1, H, 1, 1}) * error);  // [N, H, K, V]
    }
    return {S, options.scale * queries[t].unsqueeze(2).matmul(S).squeeze(2)};
  };
  const StepsResult walked =
      WalkSteps(initial_state.value_or(q.new_zeros({N, H, K, V})), q.new_empty({0, H, V}), order, step);
  return {walked.outputs, options.return_final_state ? walked.final_states : torch::Tensor()};
}

}  // namespace lrnn::ops
