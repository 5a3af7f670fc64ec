#include "lrnn/layers/mlstm.h"

#include <cmath>

#include "lrnn/layers/initialise.h"
#include "lrnn/layers/named_part.h"
#include "lrnn/ops/block_diagonal.h"
#include "lrnn/ops/linear.h"
#include "lrnn/ops/linear_attention.h"
#include "lrnn/ops/max_plus_scan.h"
#include "lrnn/ops/mlstm_readout.h"

namespace lrnn {
MlstmImpl::MlstmImpl(const Fields& config, Rng& rng)
    : sizes_(config), eps_(config.Double("norm_eps")), allow_neg_eigval_(config.Bool("allow_neg_eigval")) {
  const int64_t D = config.PositiveInt("hidden_size"), I = sizes_.inner, H = sizes_.heads;
  const double small = std::sqrt(2.0 / (5.0 * static_cast<double>(D)));
  up_ = register_module("proj_up", Linear(D, 2 * I));
  FillNormal(up_->weight, small, rng);
  const auto blocks = [&](const char* name) {
    auto part = register_module(name, std::make_shared<NamedPart>());
    const torch::Tensor weight = torch::empty({I / sizes_.block_size, sizes_.block_size, sizes_.block_size});
    return part->register_parameter("weight", FillNormal(weight, small, rng));
  };
  q_weight_ = blocks("q_proj");
  k_weight_ = blocks("k_proj");
  v_weight_ = blocks("v_proj");
  conv_ = register_module("conv1d", std::make_shared<NamedPart>())
              ->register_module("conv", ShortConv(I, sizes_.conv_width, /*has_bias=*/true, rng));

  auto cell = register_module("mlstm_cell", std::make_shared<NamedPart>());
  input_gate_ = cell->register_module("igate", Linear(3 * I, H, /*has_bias=*/true));
  FillNormal(input_gate_->bias, 0.1, rng);
  forget_gate_ = cell->register_module("fgate", Linear(3 * I, H, /*has_bias=*/true));
  {
    torch::NoGradGuard no_grad;
    forget_gate_->bias.copy_(torch::linspace(3, 6, H));
  }
  norm_weight_ =
      cell->register_module("outnorm", std::make_shared<NamedPart>())->register_parameter("weight", torch::zeros({I}));
  skip_ = register_parameter("learnable_skip", torch::ones({I}));
  down_ = register_module("proj_down", Linear(I, D));
  FillNormal(down_->weight, 2 / std::sqrt(static_cast<double>(D)), rng);
}

MlstmImpl::Projected MlstmImpl::Project(const torch::Tensor& x, const ops::Sequences& sequences,
                                        torch::Tensor* conv_state) {
  const auto uz = ops::LinearParts(x, up_->weight, {sizes_.inner, sizes_.inner});
  const torch::Tensor c = conv_->forward(uz[0], sequences, true, conv_state);
  const torch::Tensor q = ops::BlockDiagonal(c, q_weight_), k = ops::BlockDiagonal(c, k_weight_);
  const torch::Tensor v = ops::BlockDiagonal(uz[0], v_weight_), qkv = torch::cat({q, k, v}, 1);
  return {uz[1], c, q, k, v, input_gate_->forward(qkv), forget_gate_->forward(qkv)};
}

torch::Tensor MlstmImpl::Decay(const torch::Tensor& f) const {
  return allow_neg_eigval_ ? torch::tanh(0.5 * f) : torch::sigmoid(f);
}

torch::Tensor MlstmImpl::forward(const torch::Tensor& x, const ops::Sequences& sequences, MixerState* state) {
  if (state && state->empty()) state->resize(3);
  const auto optional = [&](size_t i) {
    return state && (*state)[i].defined() ? c10::optional<torch::Tensor>((*state)[i]) : c10::nullopt;
  };
  const int64_t T = x.size(0), H = sizes_.heads, K = sizes_.head_width;
  const Projected p = Project(x, sequences, state ? &(*state)[0] : nullptr);

  const torch::Tensor log_decay = allow_neg_eigval_ ? torch::log(Decay(p.f).abs()) : torch::log_sigmoid(p.f);
  const auto scan = ops::MaxPlusScan(log_decay, p.i, sequences, optional(1));
  // log|a| has no finite slope at a = 0: there the sign stays with the value and the stabiliser is a factor.
  const torch::Tensor decay = allow_neg_eigval_ ? Decay(p.f) * torch::exp(torch::clamp_max(scan.before - scan.m, 80))
                                                : torch::exp(log_decay + scan.before - scan.m);
  const torch::Tensor gate = torch::exp(p.i - scan.m) / std::sqrt(static_cast<double>(K));
  const torch::Tensor values = torch::cat({p.v.view({T, H, K}), x.new_ones({T, H, 1})}, 2);
  const auto result = ops::LinearAttention(p.q.view({T, H, K}), gate.unsqueeze(2) * p.k.view({T, H, K}), values, decay,
                                           {.return_final_state = state != nullptr}, sequences, optional(2));
  if (state) {
    (*state)[1] = scan.final;
    (*state)[2] = result.final_state;
  }
  return down_->forward(ops::MlstmReadout(result.o, scan.m, p.c, p.z, norm_weight_, skip_, eps_));
}

EigenvalueRange MlstmImpl::eigenvalue_range() const { return {allow_neg_eigval_ ? -1.0 : 0.0, 1.0}; }

torch::Tensor MlstmImpl::Eigenvalues(const torch::Tensor& x, const ops::Sequences& sequences) {
  return Decay(Project(x, sequences, nullptr).f);
}

torch::Tensor MlstmImpl::Transitions(const torch::Tensor& x, const ops::Sequences& sequences) {
  return Eigenvalues(x, sequences).view({-1, sizes_.heads, 1, 1});
}

int64_t MlstmImpl::state_size() const {
  const int64_t H = sizes_.heads, K = sizes_.head_width;
  return conv_->state_size() + H + H * K * (K + 1);
}

std::vector<std::string> MlstmImpl::WithoutWeightDecay() const {
  return {"conv1d.conv.bias", "mlstm_cell.igate.bias", "mlstm_cell.fgate.bias", "mlstm_cell.outnorm.weight",
          "learnable_skip"};
}

LayerInfo MlstmInfo() {
  return {.name = "mlstm",
          .title = "mLSTM",
          .transition = "sigmoid(f) I",
          .original = {0, 1},
          .extended = {-1, 1},
          .keys = {{"num_heads", 4, "heads, each with a state of its own"},
                   {"proj_factor", 2.0, "inner width / hidden_size"},
                   {"round_proj_up_to_multiple_of", 64, "the inner width is rounded up to a multiple of this"},
                   {"qkv_proj_blocksize", 4, "size of the blocks that make q, k and v"},
                   {"conv1d_kernel_size", 4, "width of the short convolution"},
                   {"norm_eps", 1e-5, "epsilon of the norms"}},
          .make = [](const Fields& config, Rng& rng) { return std::make_shared<MlstmImpl>(config, rng); }};
}

}  // namespace lrnn
