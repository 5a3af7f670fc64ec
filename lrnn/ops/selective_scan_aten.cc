#include "lrnn/ops/scan_steps.h"
#include "lrnn/ops/selective_scan.h"

namespace lrnn::ops {

SelectiveScanResult SelectiveScanAten(const torch::Tensor& u, const torch::Tensor& delta, const torch::Tensor& A,
                                      const torch::Tensor& B, const torch::Tensor& C,
                                      const c10::optional<torch::Tensor>& D, const c10::optional<torch::Tensor>& z,
                                      const c10::optional<torch::Tensor>& delta_bias,
                                      const SelectiveScanOptions& options, const Sequences& sequences,
                                      const c10::optional<torch::Tensor>& initial_state) {
  // What does not depend on the state is done for all tokens at once.
  torch::Tensor dt = delta_bias ? delta + *delta_bias : delta;
  if (options.delta_softplus) dt = torch::softplus(dt);
  const torch::Tensor dx = dt * u;

  const StepOrder order(sequences);
  const auto dts = order.Split(dt), dxs = order.Split(dx), Bs = order.Split(B), Cs = order.Split(C);
  const auto step = [&](int64_t t, const torch::Tensor& before) -> StepResult {
    torch::Tensor a = torch::exp(dts[t].unsqueeze(2) * A);  // [S, D, N]
    if (options.allow_neg_eigval) a = 2 * a - 1;
    const torch::Tensor h = a * before + dxs[t].unsqueeze(2) * Bs[t].unsqueeze(1);
    return {h, h.matmul(Cs[t].unsqueeze(2)).squeeze(2)};  // [S, D]
  };
  const torch::Tensor zeros = u.new_zeros({sequences.count(), A.size(0), A.size(1)});
  const StepsResult walked = WalkSteps(initial_state.value_or(zeros), u.new_empty({0, u.size(1)}), order, step);
  torch::Tensor y = walked.outputs;
  if (D) y = y + *D * u;
  if (z) y = y * torch::silu(*z);
  return {y, options.return_final_state ? walked.final_states : torch::Tensor()};
}

}  // namespace lrnn::ops
