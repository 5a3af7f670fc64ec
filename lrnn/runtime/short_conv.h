// A short causal depthwise convolution of the runtime, one token at a time (lrnn/kernels/causal_conv.h gives the
// equation).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lrnn/runtime/weight_reader.h"

namespace lrnn {

struct RuntimeShortConv {
  int64_t channels = 0;
  int64_t width = 1;
  std::vector<float> weight;  // [channels, width]
  std::vector<float> bias;    // [channels], or empty for none

  // Reads `name.weight` [channels, 1, width] and, if it has one, `name.bias`.
  static RuntimeShortConv Load(WeightReader& weights, const std::string& name, int64_t channels, int64_t width,
                               bool has_bias);

  // The convolutions side by side, as one of all their channels. Without bias.
  static RuntimeShortConv Stack(const std::vector<RuntimeShortConv>& convs);

  // The last width - 1 inputs.
  int64_t StateSize() const { return (width - 1) * channels; }

  // y = silu(conv(x)), or conv(x)
  void Step(const float* x, float* state, float* y, bool silu = true) const;
};

}  // namespace lrnn
