#include "lrnn/models/gated_gelu.h"

#include "lrnn/layers/initialise.h"

namespace lrnn {

GatedGeluImpl::GatedGeluImpl(int64_t width, int64_t inner, double deviation, double down_deviation, Rng& rng) {
  up_ = register_module("proj_up", Linear(width, 2 * inner));
  down_ = register_module("proj_down", Linear(inner, width));
  FillNormal(up_->weight, deviation, rng);
  FillNormal(down_->weight, down_deviation, rng);
}

torch::Tensor GatedGeluImpl::forward(const torch::Tensor& x) {
  const auto gate_up = up_->forward(x).chunk(2, -1);
  return down_->forward(torch::gelu(gate_up[0]) * gate_up[1]);
}

}  // namespace lrnn
