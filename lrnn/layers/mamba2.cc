#include "lrnn/layers/mamba2.h"

#include <cmath>

#include "lrnn/io/mamba2_config.h"
#include "lrnn/layers/initialise.h"
#include "lrnn/ops/linear_attention.h"

namespace lrnn {

Mamba2Impl::Mamba2Impl(const Fields& config, Rng& rng)
    : eps_(config.Double("layer_norm_epsilon")), allow_neg_eigval_(config.Bool("allow_neg_eigval")) {
  const Mamba2Config sizes(config);
  heads_ = sizes.heads;
  head_width_ = sizes.head_width;
  groups_ = sizes.groups;
  states_ = sizes.states;
  if (config.Bool("use_bias", false)) config.Refuse("use_bias", "false");

  const int64_t D = config.PositiveInt("hidden_size");
  const auto linear = [&](const char* name, int64_t in, int64_t out) {
    Linear layer = register_module(name, Linear(in, out));
    FillUniform(layer->weight, 1 / std::sqrt(static_cast<double>(in)), rng);
    return layer;
  };
  in_proj_ = linear("in_proj", D, sizes.inner() + sizes.convolved() + heads_);
  conv_ = register_module(
      "conv1d", ShortConv(sizes.convolved(), config.PositiveInt("conv_kernel"), config.Bool("use_conv_bias"), rng));
  dt_bias_ = register_parameter("dt_bias", FillTimeStepBias(torch::empty({heads_}), rng));
  torch::Tensor A = FillUniform(torch::empty({heads_}), 7.5, rng) + 8.5;  // U(1, 16)
  A_log_ = register_parameter("A_log", torch::log(A));
  D_ = register_parameter("D", torch::ones({heads_}));
  norm_ = register_module("norm", RmsNorm(sizes.inner(), eps_));
  out_proj_ = linear("out_proj", sizes.inner(), D);
}

std::vector<torch::Tensor> Mamba2Impl::Project(const torch::Tensor& x) {
  const int64_t inner = heads_ * head_width_;
  return in_proj_->forward(x).split_with_sizes({inner, inner + 2 * groups_ * states_, heads_}, 1);
}

torch::Tensor Mamba2Impl::Decay(const torch::Tensor& dt) const {
  const torch::Tensor decay = torch::exp(-dt * torch::exp(A_log_));
  return allow_neg_eigval_ ? 2 * decay - 1 : decay;
}

torch::Tensor Mamba2Impl::forward(const torch::Tensor& x, const ops::Sequences& sequences, MixerState* state) {
  if (state && state->empty()) state->resize(2);
  const int64_t T = x.size(0), inner = heads_ * head_width_, shared = groups_ * states_;
  const auto projected = Project(x);
  const auto uBC = conv_->forward(projected[1], sequences, true, state ? &(*state)[0] : nullptr)
                       .split_with_sizes({inner, shared, shared}, 1);
  const torch::Tensor u = uBC[0].reshape({T, heads_, head_width_});
  const torch::Tensor dt = torch::softplus(projected[2] + dt_bias_);
  const bool has_state = state && state->back().defined();
  const auto result =
      ops::LinearAttention(uBC[2].reshape({T, groups_, states_}), uBC[1].reshape({T, groups_, states_}),
                           dt.unsqueeze(2) * u, Decay(dt), {.return_final_state = state != nullptr}, sequences,
                           has_state ? c10::optional<torch::Tensor>(state->back()) : c10::nullopt);
  if (state) state->back() = result.final_state;
  const torch::Tensor gated = (result.o + D_.view({heads_, 1}) * u).reshape({T, inner}) * torch::silu(projected[0]);
  if (groups_ == 1) return out_proj_->forward(norm_->forward(gated));
  const auto rows = gated.chunk(groups_, 1), weights = norm_->weight.chunk(groups_);
  std::vector<torch::Tensor> normed;
  for (int64_t g = 0; g < groups_; ++g) normed.push_back(ops::RmsNorm(rows[g], weights[g], eps_));
  return out_proj_->forward(torch::cat(normed, 1));
}

EigenvalueRange Mamba2Impl::eigenvalue_range() const { return {allow_neg_eigval_ ? -1.0 : 0.0, 1.0}; }

torch::Tensor Mamba2Impl::Eigenvalues(const torch::Tensor& x, const ops::Sequences& /*sequences*/) {
  return Decay(torch::softplus(Project(x)[2] + dt_bias_));
}

torch::Tensor Mamba2Impl::Transitions(const torch::Tensor& x, const ops::Sequences& sequences) {
  return Eigenvalues(x, sequences).view({-1, heads_, 1, 1});
}

int64_t Mamba2Impl::state_size() const { return conv_->state_size() + heads_ * states_ * head_width_; }

LayerInfo Mamba2Info() {
  return {.name = "mamba2",
          .title = "Mamba-2",
          .transition = "exp(dt A) I",
          .original = {0, 1},
          .extended = {-1, 1},
          .keys = {{"num_heads", 4, "heads, each with a decay and a state of its own"},
                   {"state_size", 128, "states of each channel"},
                   {"expand", 2, "channels / hidden_size"},
                   {"n_groups", 1, "groups of heads that share B and C"},
                   {"conv_kernel", 4, "width of the short convolution"},
                   {"use_conv_bias", true, "bias of the short convolution"},
                   {"layer_norm_epsilon", 1e-5, "epsilon of the norms"},
                   {"use_final_norm", true, "norm between the last block and the head"}},
          .make = [](const Fields& config, Rng& rng) { return std::make_shared<Mamba2Impl>(config, rng); }};
}

}  // namespace lrnn
