#include "lrnn/models/swiglu.h"

#include "lrnn/layers/initialise.h"
#include "lrnn/ops/swiglu.h"

namespace lrnn {

SwiGluImpl::SwiGluImpl(int64_t width, int64_t inner, double deviation, Rng& rng) {
  gate_proj_ = register_module("gate_proj", Linear(width, inner));
  up_proj_ = register_module("up_proj", Linear(width, inner));
  down_proj_ = register_module("down_proj", Linear(inner, width));
  FillNormal(gate_proj_->weight, deviation, rng);
  FillNormal(up_proj_->weight, deviation, rng);
}

torch::Tensor SwiGluImpl::forward(const torch::Tensor& x) {
  // The widest tensors of a block: of bf16 numbers they stay bf16.
  return down_proj_->forward(
      ops::SwiGlu(MultiplySideBySide(x, {gate_proj_, up_proj_}, ops::LinearOutput::kAsMultiplied)));
}

}  // namespace lrnn
