#include "lrnn/layers/mamba.h"

#include <cmath>

#include "lrnn/layers/initialise.h"
#include "lrnn/ops/linear.h"
#include "lrnn/ops/selective_scan.h"

namespace lrnn {

MambaImpl::MambaImpl(const Fields& config, Rng& rng)
    : states_(config.PositiveInt("state_size")), allow_neg_eigval_(config.Bool("allow_neg_eigval")) {
  const int64_t D = config.PositiveInt("hidden_size");
  inner_ = config.PositiveInt("expand") * D;
  // "auto" stands for ceil(D / 16) in the field's configs.
  rank_ = config.json().at("time_step_rank") == "auto" ? (D + 15) / 16 : config.PositiveInt("time_step_rank");
  if (config.Bool("use_bias", false)) config.Refuse("use_bias", "false");

  const auto linear = [&](const char* name, int64_t in, int64_t out, bool has_bias) {
    Linear layer = register_module(name, Linear(in, out, has_bias));
    FillUniform(layer->weight, 1 / std::sqrt(static_cast<double>(in)), rng);
    return layer;
  };
  in_proj_ = linear("in_proj", D, 2 * inner_, false);
  conv_ = register_module("conv1d",
                          ShortConv(inner_, config.PositiveInt("conv_kernel"), config.Bool("use_conv_bias"), rng));
  x_proj_ = linear("x_proj", inner_, rank_ + 2 * states_, false);
  dt_proj_ = linear("dt_proj", rank_, inner_, true);
  FillTimeStepBias(dt_proj_->bias, rng);
  A_log_ = register_parameter("A_log", torch::log(torch::arange(1, states_ + 1, torch::kFloat32)).repeat({inner_, 1}));
  D_ = register_parameter("D", torch::ones({inner_}));
  out_proj_ = linear("out_proj", inner_, D, false);
}

MambaImpl::Projected MambaImpl::Project(const torch::Tensor& x, const ops::Sequences& sequences,
                                        torch::Tensor* conv_state) {
  const auto uz = ops::LinearParts(x, in_proj_->weight, {inner_, inner_});
  const torch::Tensor u = conv_->forward(uz[0], sequences, true, conv_state);
  const auto low = x_proj_->forward(u).split_with_sizes({rank_, states_, states_}, 1);
  return {u, uz[1], ops::Linear(low[0], dt_proj_->weight), low[1], low[2]};
}

torch::Tensor MambaImpl::forward(const torch::Tensor& x, const ops::Sequences& sequences, MixerState* state) {
  if (state && state->empty()) state->resize(2);
  const Projected p = Project(x, sequences, state ? &(*state)[0] : nullptr);
  const bool has_state = state && state->back().defined();
  const auto result = ops::SelectiveScan(
      p.u, p.dt, A(), p.B, p.C, D_, p.z, dt_proj_->bias,
      {.delta_softplus = true, .allow_neg_eigval = allow_neg_eigval_, .return_final_state = state != nullptr},
      sequences, has_state ? c10::optional<torch::Tensor>(state->back()) : c10::nullopt);
  if (state) state->back() = result.final_state;
  return out_proj_->forward(result.y);
}

EigenvalueRange MambaImpl::eigenvalue_range() const { return {allow_neg_eigval_ ? -1.0 : 0.0, 1.0}; }

torch::Tensor MambaImpl::Eigenvalues(const torch::Tensor& x, const ops::Sequences& sequences) {
  const Projected p = Project(x, sequences, nullptr);
  const torch::Tensor dt = torch::softplus(p.dt + dt_proj_->bias);
  const torch::Tensor decay = torch::exp(dt.unsqueeze(2) * A());  // [T, I, N]
  return allow_neg_eigval_ ? 2 * decay - 1 : decay;
}

torch::Tensor MambaImpl::Transitions(const torch::Tensor& x, const ops::Sequences& sequences) {
  return torch::diag_embed(Eigenvalues(x, sequences));
}

int64_t MambaImpl::state_size() const { return conv_->state_size() + inner_ * states_; }

LayerInfo MambaInfo() {
  return {.name = "mamba",
          .title = "Mamba",
          .transition = "Diag(exp(dt A))",
          .original = {0, 1},
          .extended = {-1, 1},
          .keys = {{"state_size", 16, "states of each channel"},
                   {"expand", 2, "channels / hidden_size"},
                   {"conv_kernel", 4, "width of the short convolution"},
                   {"use_conv_bias", true, "bias of the short convolution"},
                   {"time_step_rank", "auto", "rank of the time step's projection; auto: hidden_size / 16"},
                   {"layer_norm_epsilon", 1e-5, "epsilon of the norms"},
                   {"use_final_norm", true, "norm between the last block and the head"}},
          .make = [](const Fields& config, Rng& rng) { return std::make_shared<MambaImpl>(config, rng); }};
}

}  // namespace lrnn
