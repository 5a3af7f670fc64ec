#include "lrnn/ops/linear_attention.h"
#include "lrnn/ops/scan_steps.h"

namespace lrnn::ops {

LinearAttentionResult LinearAttentionAten(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                                          const torch::Tensor& decay, const LinearAttentionOptions& options,
                                          const Sequences& sequences,
                                          const c10::optional<torch::Tensor>& initial_state) {
  const int64_t N = sequences.count(), H = v.size(1), K = q.size(2), V = v.size(2), heads_of_group = H / q.size(1);
  const auto step = [&](const torch::Tensor& rows, const torch::Tensor& before) -> StepResult {
    const auto of_heads = [&](const torch::Tensor& x) {
      return x.index_select(0, rows).repeat_interleave(heads_of_group, 1);  // [N, H, K]
    };
    const torch::Tensor values = v.index_select(0, rows).unsqueeze(2);  // [N, H, 1, V]
    const torch::Tensor a = decay.index_select(0, rows).view({-1, H, decay.dim() == 3 ? K : 1, 1});
    const torch::Tensor S = a * before + of_heads(k).unsqueeze(3) * values;  // [N, H, K, V]
    return {S, options.scale * of_heads(q).unsqueeze(2).matmul(S).squeeze(2)};
  };
  const StepsResult walked =
      WalkSteps(initial_state.value_or(q.new_zeros({N, H, K, V})), q.new_empty({0, H, V}), sequences, step);
  return {walked.outputs, options.return_final_state ? walked.final_states : torch::Tensor()};
}

}  // namespace lrnn::ops
