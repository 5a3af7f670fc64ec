#include "lrnn/runtime/linear.h"

#include "lrnn/base/error.h"
#include "lrnn/kernels/matvec.h"

namespace lrnn {

RuntimeLinear RuntimeLinear::Load(WeightReader& weights, const std::string& name, int64_t in, int64_t out,
                                  bool has_bias) {
  RuntimeLinear layer{in, out, weights.Read(name + ".weight", {out, in}), {}};
  if (has_bias) layer.bias = weights.Read(name + ".bias", {out});
  return layer;
}

RuntimeLinear RuntimeLinear::Stack(const std::vector<RuntimeLinear>& layers) {
  RuntimeLinear stack{layers.at(0).in, 0, {}, {}};
  for (const RuntimeLinear& layer : layers) {
    LRNN_CHECK(layer.in == stack.in && layer.bias.empty(),
               "[RuntimeLinear::Stack] expected {} inputs and no bias, got {}", stack.in, layer.in);
    stack.out += layer.out;
    stack.weight.insert(stack.weight.end(), layer.weight.begin(), layer.weight.end());
  }
  return stack;
}

void RuntimeLinear::Apply(const float* x, float* y) const {
  kernels::MatVec(weight.data(), x, bias.empty() ? nullptr : bias.data(), out, in, y, /*threads=*/1);
}

}  // namespace lrnn
