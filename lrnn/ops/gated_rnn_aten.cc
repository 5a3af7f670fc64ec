#include "lrnn/ops/gated_rnn.h"
#include "lrnn/ops/gated_rnn_cells.h"
#include "lrnn/ops/scan_steps.h"

namespace lrnn::ops {
namespace {

template <typename Cell>
GatedRnnResult Aten(const torch::Tensor& x, const torch::Tensor& R, const torch::Tensor& bias,
                    const GatedRnnOptions& options, const Sequences& sequences,
                    const c10::optional<torch::Tensor>& initial_state) {
  const int64_t H = R.size(0), K = R.size(1);
  const StepOrder order(sequences);
  const auto inputs = order.Split(x);
  const auto step = [&](int64_t t, const torch::Tensor& before) -> StepResult {
    const torch::Tensor gates = GatesOfStep(inputs[t], before.select(1, 0), R, bias);
    const torch::Tensor state = Cell::Next(gates, before);
    return {state, state.select(1, 0)};
  };
  const torch::Tensor zeros = x.new_zeros({sequences.count(), Cell::kStates, H, K});
  const StepsResult walked = WalkSteps(initial_state.value_or(zeros), x.new_empty({0, H, K}), order, step);
  return {walked.outputs, options.return_final_state ? walked.final_states : torch::Tensor()};
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
