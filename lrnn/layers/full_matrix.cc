#include "lrnn/layers/full_matrix.h"

#include <cmath>

#include "lrnn/layers/initialise.h"
#include "lrnn/ops/matrix_scan.h"
#include "lrnn/ops/scan_steps.h"

namespace lrnn {

FullMatrixImpl::FullMatrixImpl(const Fields& config, Rng& rng) : width_(config.PositiveInt("hidden_size")) {
  const double bound = 1 / std::sqrt(static_cast<double>(width_));
  for (auto [name, layer] : {std::pair{"a_proj", &a_proj_}, {"b_proj", &b_proj_}}) {
    *layer = register_module(name, Linear(width_, width_ * width_, /*has_bias=*/true));
    FillUniform((*layer)->weight, bound, rng);
    FillUniform((*layer)->bias, bound, rng);
  }
}

torch::Tensor FullMatrixImpl::Matrices(Linear layer, const torch::Tensor& x) const {
  return layer->forward(x).view({-1, width_, width_}) / std::sqrt(static_cast<double>(width_));
}

torch::Tensor FullMatrixImpl::forward(const torch::Tensor& x, const ops::Sequences& sequences, MixerState* state) {
  const auto initial = state && !state->empty() ? c10::optional<torch::Tensor>(state->back()) : c10::nullopt;
  const torch::Tensor B = Matrices(b_proj_, x).matmul(x.unsqueeze(2));  // [T, D, 1]
  const torch::Tensor h = ops::MatrixScan(Matrices(a_proj_, x), B, sequences, initial);
  if (state) *state = {ops::LastStates(h, sequences, initial)};
  return h.squeeze(2);
}

EigenvalueRange FullMatrixImpl::eigenvalue_range() const { return kUnbounded; }

torch::Tensor FullMatrixImpl::Eigenvalues(const torch::Tensor& x, const ops::Sequences& /*sequences*/) {
  return torch::linalg_eigvals(Matrices(a_proj_, x));
}

torch::Tensor FullMatrixImpl::Transitions(const torch::Tensor& x, const ops::Sequences& /*sequences*/) {
  return Matrices(a_proj_, x).unsqueeze(1);
}

std::vector<std::string> FullMatrixImpl::WithoutWeightDecay() const { return {"a_proj.bias", "b_proj.bias"}; }

LayerInfo FullMatrixInfo() {
  return {.name = "full_matrix",
          .title = "full matrix",
          .transition = "A(x)",
          .original = kUnbounded,
          .extended = kUnbounded,
          .keys = {{"norm_eps", 1e-5, "epsilon of the norms"}},
          .make = [](const Fields& config, Rng& rng) { return std::make_shared<FullMatrixImpl>(config, rng); }};
}

}  // namespace lrnn
