#include "lrnn/layers/lstm.h"

#include <cmath>

#include "lrnn/layers/initialise.h"
#include "lrnn/ops/gated_rnn.h"
#include "lrnn/ops/linear.h"

namespace lrnn {

LstmImpl::LstmImpl(const Fields& config, Rng& rng) : width_(config.PositiveInt("hidden_size")) {
  const int64_t D = width_;
  const double bound = 1 / std::sqrt(static_cast<double>(D));
  const auto parameter = [&](const char* name, at::IntArrayRef shape) {
    return register_parameter(name, FillUniform(torch::empty(shape), bound, rng));
  };
  input_weight_ = parameter("weight_ih_l0", {4 * D, D});
  hidden_weight_ = parameter("weight_hh_l0", {4 * D, D});
  input_bias_ = parameter("bias_ih_l0", {4 * D});
  hidden_bias_ = parameter("bias_hh_l0", {4 * D});
}

torch::Tensor LstmImpl::forward(const torch::Tensor& x, const ops::Sequences& sequences, MixerState* state) {
  const int64_t T = x.size(0), D = width_;
  const torch::Tensor gates = ops::Linear(x, input_weight_).view({T, 1, 4, D});
  const auto result = ops::Lstm(gates, hidden_weight_.t().reshape({1, D, 4, D}),
                                (input_bias_ + hidden_bias_).view({1, 4, D}), {.return_final_state = state != nullptr},
                                sequences, state && !state->empty() ? c10::make_optional((*state)[0]) : c10::nullopt);
  if (state) *state = {result.final_state};
  return result.y.view({T, D});
}

LayerInfo LstmInfo() {
  return {.name = "lstm", .title = "LSTM", .transition = "", .keys = {}, .make = [](const Fields& config, Rng& rng) {
            return std::make_shared<LstmImpl>(config, rng);
          }};
}

}  // namespace lrnn
