#include "lrnn/layers/short_conv.h"

#include <cmath>

#include "lrnn/layers/initialise.h"
#include "lrnn/ops/causal_conv.h"

namespace lrnn {

ShortConvImpl::ShortConvImpl(int64_t channels, int64_t width, bool has_bias, Rng& rng) {
  const double bound = 1 / std::sqrt(static_cast<double>(width));
  weight = register_parameter("weight", FillUniform(torch::empty({channels, 1, width}), bound, rng));
  if (has_bias) bias = register_parameter("bias", FillUniform(torch::empty({channels}), bound, rng));
}

torch::Tensor ShortConvImpl::forward(const torch::Tensor& x, const ops::Sequences& sequences, bool silu,
                                     torch::Tensor* state) {
  const auto optional = [](const torch::Tensor& tensor) {
    return tensor.defined() ? c10::optional<torch::Tensor>(tensor) : c10::nullopt;
  };
  const auto result =
      ops::CausalConv(x, weight.squeeze(1), optional(bias), {.silu = silu, .return_final_state = state != nullptr},
                      sequences, state ? optional(*state) : c10::nullopt);
  if (state) *state = result.final_state;
  return result.y;
}

}  // namespace lrnn
