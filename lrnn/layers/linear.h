// y = x W^T (+ bias) as a module, and several of them as one product.
#pragma once

#include <vector>

#include "lrnn/ops/linear.h"
#include "lrnn/ops/torch.h"

namespace lrnn {

// Parameters `weight` [out, in] and, if wanted, `bias` [out]; the maker of the layer fills them.
class LinearImpl : public torch::nn::Module {
 public:
  LinearImpl(int64_t in, int64_t out, bool has_bias = false);
  torch::Tensor forward(const torch::Tensor& x);  // [..., in] -> [..., out]

  torch::Tensor weight;
  torch::Tensor bias;  // undefined without bias
};
TORCH_MODULE(Linear);

// The products of one x with several layers (without bias): the results side by side, [..., sum of out], or each of
// them.
torch::Tensor MultiplySideBySide(const torch::Tensor& x, const std::vector<Linear>& layers,
                                 ops::LinearOutput output = ops::LinearOutput::kLikeWeight);
std::vector<torch::Tensor> MultiplyTogether(const torch::Tensor& x, const std::vector<Linear>& layers);

}  // namespace lrnn
