#include "lrnn/runtime/short_conv.h"

#include "lrnn/kernels/causal_conv.h"
#include "lrnn/runtime/mixer.h"

namespace lrnn {

RuntimeShortConv RuntimeShortConv::Load(WeightReader& weights, const std::string& name, int64_t channels, int64_t width,
                                        bool has_bias) {
  RuntimeShortConv conv{channels, width, weights.Read(name + ".weight", {channels, 1, width}), {}};
  if (has_bias) conv.bias = weights.Read(name + ".bias", {channels});
  return conv;
}

void RuntimeShortConv::Step(const float* x, float* state, float* y) const {
  kernels::CausalConv({.cu_seqlens = kOneToken,
                       .S = 1,
                       .D = channels,
                       .W = width,
                       .x = x,
                       .x_stride = channels,
                       .weight = weight.data(),
                       .bias = bias.empty() ? nullptr : bias.data(),
                       .initial_state = state,
                       .silu = true},
                      y, state, /*threads=*/1);
}

}  // namespace lrnn
