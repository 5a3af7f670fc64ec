// Linear layers of the runtime: y = W x (+ bias) for one token.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lrnn/runtime/weight_reader.h"

namespace lrnn {

struct RuntimeLinear {
  int64_t in = 0;
  int64_t out = 0;
  std::vector<float> weight;  // [out, in]
  std::vector<float> bias;    // [out], or empty for none

  // Reads `name.weight` and, if it has one, `name.bias`.
  static RuntimeLinear Load(WeightReader& weights, const std::string& name, int64_t in, int64_t out,
                            bool has_bias = false);

  // The layers one below the other, so that one product serves all: y = [y_0, y_1, ...]. Without bias.
  static RuntimeLinear Stack(const std::vector<RuntimeLinear>& layers);

  void Apply(const float* x, float* y) const;
};

}  // namespace lrnn
