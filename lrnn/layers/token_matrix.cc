#include "lrnn/layers/token_matrix.h"

#include <cmath>

#include "lrnn/base/error.h"
#include "lrnn/layers/initialise.h"
#include "lrnn/ops/matrix_scan.h"
#include "lrnn/ops/scan_steps.h"

namespace lrnn {
namespace {

const torch::Tensor& IdsOf(const ops::Sequences& sequences) {
  LRNN_CHECK(sequences.ids().defined(), "[token_matrix] expected sequences that know their tokens, got none");
  return sequences.ids();
}

}  // namespace

TokenMatrixImpl::TokenMatrixImpl(const Fields& config, Rng& rng) : size_(config.PositiveInt("matrix_size")) {
  const int64_t D = config.PositiveInt("hidden_size"), n = size_;
  // N(0, 1 / sqrt(n)): the products neither grow nor vanish, in the mean square.
  A_ = register_parameter("A", torch::empty({config.PositiveInt("vocab_size"), n, n}));
  FillNormal(A_, 1 / std::sqrt(static_cast<double>(n)), rng);
  o_proj_ = register_module("o_proj", Linear(n * n, D));
  FillUniform(o_proj_->weight, 1 / static_cast<double>(n), rng);
}

torch::Tensor TokenMatrixImpl::forward(const torch::Tensor& x, const ops::Sequences& sequences, MixerState* state) {
  const torch::Tensor initial = state && !state->empty()
                                    ? state->back()
                                    : torch::eye(size_, A_.options()).expand({sequences.count(), size_, size_});
  const torch::Tensor H = ops::MatrixScan(A_, c10::nullopt, sequences, initial, IdsOf(sequences));
  if (state) *state = {ops::LastStates(H, sequences, initial)};
  const torch::Tensor flat = H.flatten(1);
  // In double: the squares of numbers that float can hold may be more than it can.
  const torch::Tensor norm = torch::linalg_vector_norm(flat, 2, at::IntArrayRef({1}), true, torch::kFloat64);
  return o_proj_->forward(flat / torch::clamp_min(norm, 1).to(x.scalar_type()));
}

EigenvalueRange TokenMatrixImpl::eigenvalue_range() const { return kUnbounded; }

torch::Tensor TokenMatrixImpl::Eigenvalues(const torch::Tensor& /*x*/, const ops::Sequences& sequences) {
  return torch::linalg_eigvals(A_).index_select(0, IdsOf(sequences));
}

torch::Tensor TokenMatrixImpl::Transitions(const torch::Tensor& /*x*/, const ops::Sequences& sequences) {
  return A_.index_select(0, IdsOf(sequences)).unsqueeze(1);
}

LayerInfo TokenMatrixInfo() {
  return {
      .name = "token_matrix",
      .title = "token matrix",
      .transition = "A[token]",
      .original = kUnbounded,
      .extended = kUnbounded,
      .keys = {{"matrix_size", 32, "rows and columns of the transitions"}, {"norm_eps", 1e-5, "epsilon of the norms"}},
      .make = [](const Fields& config, Rng& rng) { return std::make_shared<TokenMatrixImpl>(config, rng); }};
}

}  // namespace lrnn
