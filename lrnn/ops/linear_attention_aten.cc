#include "lrnn/ops/linear_attention.h"
#include "lrnn/ops/scan_steps.h"

namespace lrnn::ops {

LinearAttentionResult LinearAttentionAten(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                                          const torch::Tensor& decay, const LinearAttentionOptions& options,
                                          const Sequences& sequences,
                                          const c10::optional<torch::Tensor>& initial_state) {
  const int64_t N = sequences.count(), H = v.size(1), K = q.size(2), V = v.size(2), heads_of_group = H / q.size(1);
  const StepOrder order(sequences);
  const auto queries = order.Split(q), keys = order.Split(k), values = order.Split(v), decays = order.Split(decay);
  const auto step = [&](int64_t t, const torch::Tensor& before) -> StepResult {
    const auto of_heads = [&](const torch::Tensor& x) { return x.repeat_interleave(heads_of_group, 1); };  // [N, H, K]
    const torch::Tensor a = decays[t].view({-1, H, decay.dim() == 3 ? K : 1, 1});
    const torch::Tensor S = a * before + of_heads(keys[t]).unsqueeze(3) * values[t].unsqueeze(2);  // [N, H, K, V]
    return {S, options.scale * of_heads(queries[t]).unsqueeze(2).matmul(S).squeeze(2)};
  };
  const StepsResult walked =
      WalkSteps(initial_state.value_or(q.new_zeros({N, H, K, V})), q.new_empty({0, H, V}), order, step);
  return {walked.outputs, options.return_final_state ? walked.final_states : torch::Tensor()};
}

}  // namespace lrnn::ops
