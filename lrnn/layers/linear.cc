#include "lrnn/layers/linear.h"

namespace lrnn {

LinearImpl::LinearImpl(int64_t in, int64_t out, bool has_bias) {
  weight = register_parameter("weight", torch::zeros({out, in}));
  if (has_bias) bias = register_parameter("bias", torch::zeros({out}));
}

torch::Tensor LinearImpl::forward(const torch::Tensor& x) { return ops::Linear(x, weight, bias); }

torch::Tensor MultiplySideBySide(const torch::Tensor& x, const std::vector<Linear>& layers, ops::LinearOutput output) {
  std::vector<torch::Tensor> weights;
  for (const Linear& layer : layers) weights.push_back(layer->weight);
  return ops::Linear(x, torch::cat(weights), {}, output);
}

std::vector<torch::Tensor> MultiplyTogether(const torch::Tensor& x, const std::vector<Linear>& layers) {
  std::vector<int64_t> widths;
  for (const Linear& layer : layers) widths.push_back(layer->weight.size(0));
  // split_with_sizes, not slices: its gradient is one concatenation.
  return MultiplySideBySide(x, layers).split_with_sizes(widths, -1);
}

}  // namespace lrnn
