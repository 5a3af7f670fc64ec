#include "lrnn/layers/diagonal.h"

#include <cmath>

#include "lrnn/layers/initialise.h"
#include "lrnn/ops/diagonal_scan.h"
#include "lrnn/ops/scan_steps.h"

namespace lrnn {
namespace {

constexpr double kSharpness = 10;

}  // namespace

DiagonalImpl::DiagonalImpl(const Fields& config, Rng& rng) : allow_neg_eigval_(config.Bool("allow_neg_eigval")) {
  const int64_t D = config.PositiveInt("hidden_size");
  const double bound = 1 / std::sqrt(static_cast<double>(D));
  for (auto [name, layer] : {std::pair{"a_proj", &a_proj_}, {"b_proj", &b_proj_}}) {
    *layer = register_module(name, Linear(D, D, /*has_bias=*/true));
    FillUniform((*layer)->weight, bound * bound, rng);
    FillUniform((*layer)->bias, bound, rng);
  }
}

torch::Tensor DiagonalImpl::forward(const torch::Tensor& x, const ops::Sequences& sequences, MixerState* state) {
  const auto initial = state && !state->empty() ? c10::optional<torch::Tensor>(state->back()) : c10::nullopt;
  const torch::Tensor h = ops::DiagonalScan(Eigenvalues(x, sequences), b_proj_->forward(x) * x, sequences, initial);
  if (state) *state = {ops::LastStates(h, sequences, initial)};
  return h;
}

EigenvalueRange DiagonalImpl::eigenvalue_range() const { return {allow_neg_eigval_ ? -1.0 : 0.0, 1.0}; }

torch::Tensor DiagonalImpl::Eigenvalues(const torch::Tensor& x, const ops::Sequences& /*sequences*/) {
  const torch::Tensor z = kSharpness * a_proj_->forward(x);
  return allow_neg_eigval_ ? torch::tanh(z) : torch::sigmoid(z);
}

torch::Tensor DiagonalImpl::Transitions(const torch::Tensor& x, const ops::Sequences& sequences) {
  return Eigenvalues(x, sequences).view({x.size(0), -1, 1, 1});
}

int64_t DiagonalImpl::state_size() const { return a_proj_->weight.size(0); }

std::vector<std::string> DiagonalImpl::WithoutWeightDecay() const { return {"a_proj.bias", "b_proj.bias"}; }

LayerInfo DiagonalInfo() {
  return {.name = "diagonal",
          .title = "Diagonal",
          .transition = "Diag(a)",
          .original = {0, 1},
          .extended = {-1, 1},
          .keys = {{"norm_eps", 1e-5, "epsilon of the norms"}},
          .make = [](const Fields& config, Rng& rng) { return std::make_shared<DiagonalImpl>(config, rng); }};
}

}  // namespace lrnn
