#include "lrnn/runtime/short_conv.h"

#include "lrnn/base/error.h"
#include "lrnn/kernels/causal_conv.h"
#include "lrnn/runtime/mixer.h"

namespace lrnn {

RuntimeShortConv RuntimeShortConv::Load(WeightReader& weights, const std::string& name, int64_t channels, int64_t width,
                                        bool has_bias) {
  RuntimeShortConv conv{channels, width, weights.Read(name + ".weight", {channels, 1, width}), {}};
  if (has_bias) conv.bias = weights.Read(name + ".bias", {channels});
  return conv;
}

RuntimeShortConv RuntimeShortConv::Stack(const std::vector<RuntimeShortConv>& convs) {
  RuntimeShortConv stack{0, convs.at(0).width, {}, {}};
  for (const RuntimeShortConv& conv : convs) {
    LRNN_CHECK(conv.width == stack.width && conv.bias.empty(),
               "[RuntimeShortConv::Stack] expected width {} and no bias, got width {}", stack.width, conv.width);
    stack.channels += conv.channels;
    stack.weight.insert(stack.weight.end(), conv.weight.begin(), conv.weight.end());
  }
  return stack;
}

void RuntimeShortConv::Step(const float* x, float* state, float* y, bool silu) const {
  kernels::CausalConv({.cu_seqlens = kOneToken,
                       .S = 1,
                       .D = channels,
                       .W = width,
                       .x = x,
                       .x_stride = channels,
                       .weight = weight.data(),
                       .bias = bias.empty() ? nullptr : bias.data(),
                       .initial_state = state,
                       .silu = silu},
                      y, state, /*threads=*/1);
}

}  // namespace lrnn
