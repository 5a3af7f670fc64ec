#include "lrnn/ops/gated_rnn.h"
#include "lrnn/ops/gated_rnn_cells.h"

namespace lrnn::ops {
namespace {

template <typename Step>
GatedRnnResult Reference(const torch::Tensor& x, const torch::Tensor& R, const torch::Tensor& bias,
                         const GatedRnnOptions& options, const Sequences& sequences,
                         const c10::optional<torch::Tensor>& initial_state) {
  const int64_t H = R.size(0), K = R.size(1);
  std::vector<torch::Tensor> outputs{x.new_empty({0, H, K})}, states{x.new_empty({0, Step::kStates, H, K})};
  for (int64_t i = 0; i < sequences.count(); ++i) {
    torch::Tensor state = initial_state ? initial_state->slice(0, i, i + 1) : x.new_zeros({1, Step::kStates, H, K});
    for (int64_t t = sequences.begin(i); t < sequences.end(i); ++t) {
      state = Step::Next(GatesOfStep(x.slice(0, t, t + 1), state.select(1, 0), R, bias), state);
      outputs.push_back(state.select(1, 0));
    }
    states.push_back(state);
  }
  return {torch::cat(outputs), options.return_final_state ? torch::cat(states) : torch::Tensor()};
}

}  // namespace

GatedRnnResult SlstmReference(const torch::Tensor& x, const torch::Tensor& R, const torch::Tensor& bias,
                              const GatedRnnOptions& options, const Sequences& sequences,
                              const c10::optional<torch::Tensor>& initial_state) {
  return Reference<SlstmStep>(x, R, bias, options, sequences, initial_state);
}

GatedRnnResult LstmReference(const torch::Tensor& x, const torch::Tensor& R, const torch::Tensor& bias,
                             const GatedRnnOptions& options, const Sequences& sequences,
                             const c10::optional<torch::Tensor>& initial_state) {
  return Reference<LstmStep>(x, R, bias, options, sequences, initial_state);
}

}  // namespace lrnn::ops
