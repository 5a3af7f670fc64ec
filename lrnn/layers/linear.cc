#include "lrnn/layers/linear.h"

namespace lrnn {

LinearImpl::LinearImpl(int64_t in, int64_t out, bool has_bias) {
  weight = register_parameter("weight", torch::zeros({out, in}));
  if (has_bias) bias = register_parameter("bias", torch::zeros({out}));
}

torch::Tensor LinearImpl::forward(const torch::Tensor& x) { return ops::Linear(x, weight, bias); }

namespace {

torch::Tensor Weights(const std::vector<Linear>& layers) {
  std::vector<torch::Tensor> weights;
  for (const Linear& layer : layers) weights.push_back(layer->weight);
  return torch::cat(weights);
}

}  // namespace

torch::Tensor MultiplySideBySide(const torch::Tensor& x, const std::vector<Linear>& layers, ops::LinearOutput output) {
  return ops::Linear(x, Weights(layers), {}, output);
}

std::vector<torch::Tensor> MultiplyTogether(const torch::Tensor& x, const std::vector<Linear>& layers) {
  std::vector<int64_t> widths;
  for (const Linear& layer : layers) widths.push_back(layer->weight.size(0));
  return ops::LinearParts(x, Weights(layers), widths);
}

}  // namespace lrnn
