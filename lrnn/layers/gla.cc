#include "lrnn/layers/gla.h"

#include <cmath>

#include "lrnn/io/head_width.h"
#include "lrnn/layers/initialise.h"
#include "lrnn/layers/named_part.h"
#include "lrnn/ops/linear_attention.h"

namespace lrnn {

GlaImpl::GlaImpl(const Fields& config, Rng& rng)
    : heads_(config.PositiveInt("num_heads")),
      key_width_(HeadWidth(config, "expand_k", 0.5)),
      value_width_(HeadWidth(config, "expand_v", 1)),
      gate_normalizer_(config.Double("gate_logit_normalizer")),
      has_conv_(config.Bool("use_short_conv")),
      has_output_gate_(config.Bool("use_output_gate")),
      allow_neg_eigval_(config.Bool("allow_neg_eigval")) {
  if (!(gate_normalizer_ > 0)) config.Refuse("gate_logit_normalizer", "a positive number");
  if (config.Int("num_kv_heads", heads_) != heads_) config.Refuse("num_kv_heads", "num_heads or null");
  if (config.Has("feature_map")) config.Refuse("feature_map", "null");
  if (config.Has("clamp_min")) config.Refuse("clamp_min", "null");
  if (config.Has("attn")) config.Refuse("attn", "null (no attention layers)");

  const int64_t D = config.PositiveInt("hidden_size"), keys = heads_ * key_width_, values = heads_ * value_width_;
  const int64_t rank = config.PositiveInt("gate_low_rank_dim");
  const double gain = std::pow(2.0, -2.5);
  const auto fill = [&](Linear layer) {
    FillXavierUniform(layer->weight, gain, rng);
    return layer;
  };
  const auto linear = [&](const char* name, int64_t in, int64_t out) {
    return fill(register_module(name, Linear(in, out)));
  };
  q_proj_ = linear("q_proj", D, keys);
  k_proj_ = linear("k_proj", D, keys);
  v_proj_ = linear("v_proj", D, values);
  if (has_output_gate_) g_proj_ = linear("g_proj", D, values);
  if (has_conv_) {
    const int64_t width = config.PositiveInt("conv_size");
    q_conv_ = register_module("q_conv1d", ShortConv(keys, width, false, rng));
    k_conv_ = register_module("k_conv1d", ShortConv(keys, width, false, rng));
    v_conv_ = register_module("v_conv1d", ShortConv(values, width, false, rng));
  }
  gate_down_ = fill(Linear(D, rank));
  gate_up_ = fill(Linear(rank, keys, /*has_bias=*/true));
  const auto gk_proj = register_module("gk_proj", std::make_shared<NamedPart>());
  gk_proj->register_module("0", gate_down_);
  gk_proj->register_module("1", gate_up_);
  // The field's name says whether norm and gate run in one kernel.
  const bool fused = has_output_gate_ && config.Bool("fuse_norm", true);
  norm_ = register_module(fused ? "g_norm_swish_gate" : "g_norm", RmsNorm(value_width_, config.Double("norm_eps")));
  o_proj_ = linear("o_proj", values, D);
}

torch::Tensor GlaImpl::Decay(const torch::Tensor& low) {
  const torch::Tensor s = torch::exp(torch::log_sigmoid(gate_up_->forward(low)) / gate_normalizer_);
  return (allow_neg_eigval_ ? 2 * s - 1 : s).view({-1, heads_, key_width_});
}

torch::Tensor GlaImpl::forward(const torch::Tensor& x, const ops::Sequences& sequences, MixerState* state) {
  if (state && state->empty()) state->resize(has_conv_ ? 4 : 1);
  const int64_t T = x.size(0);
  std::vector<Linear> layers{q_proj_, k_proj_, v_proj_, gate_down_};
  if (has_output_gate_) layers.push_back(g_proj_);
  const auto projected = MultiplyTogether(x, layers);
  torch::Tensor q = projected[0], k = projected[1], v = projected[2];
  if (has_conv_) {
    const auto conv_state = [&](size_t i) { return state ? &(*state)[i] : nullptr; };
    q = q_conv_->forward(q, sequences, true, conv_state(0));
    k = k_conv_->forward(k, sequences, true, conv_state(1));
    v = v_conv_->forward(v, sequences, true, conv_state(2));
  }
  const bool has_state = state && state->back().defined();
  const auto result = ops::LinearAttention(
      q.reshape({T, heads_, key_width_}), k.reshape({T, heads_, key_width_}), v.reshape({T, heads_, value_width_}),
      Decay(projected[3]),
      {.scale = 1 / std::sqrt(static_cast<double>(key_width_)), .return_final_state = state != nullptr}, sequences,
      has_state ? c10::optional<torch::Tensor>(state->back()) : c10::nullopt);
  if (state) state->back() = result.final_state;
  torch::Tensor o = norm_->forward(result.o).reshape({T, heads_ * value_width_});
  if (has_output_gate_) o = o * torch::silu(projected[4]);
  return o_proj_->forward(o);
}

EigenvalueRange GlaImpl::eigenvalue_range() const { return {allow_neg_eigval_ ? -1.0 : 0.0, 1.0}; }

torch::Tensor GlaImpl::Eigenvalues(const torch::Tensor& x, const ops::Sequences& /*sequences*/) {
  return Decay(gate_down_->forward(x));
}

torch::Tensor GlaImpl::Transitions(const torch::Tensor& x, const ops::Sequences& sequences) {
  return Eigenvalues(x, sequences).reshape({-1, heads_ * key_width_, 1, 1});
}

int64_t GlaImpl::state_size() const {
  const int64_t conv = has_conv_ ? q_conv_->state_size() + k_conv_->state_size() + v_conv_->state_size() : 0;
  return conv + heads_ * key_width_ * value_width_;
}

LayerInfo GlaInfo() {
  return {.name = "gla",
          .title = "GLA",
          .transition = "Diag(a)",
          .original = {0, 1},
          .extended = {-1, 1},
          .keys = {{"num_heads", 4, "heads, each with a state of its own"},
                   {"expand_k", 0.5, "width of all keys / hidden_size"},
                   {"expand_v", 1.0, "width of all values / hidden_size"},
                   {"use_short_conv", false, "short convolutions on q, k and v"},
                   {"conv_size", 4, "their width"},
                   {"use_output_gate", true, "gate on the normed output"},
                   {"gate_logit_normalizer", 16.0, "root taken of the decay's sigmoid"},
                   {"gate_low_rank_dim", 16, "rank of the decay's projection"},
                   {"norm_eps", 1e-6, "epsilon of the norms"}},
          .make = [](const Fields& config, Rng& rng) { return std::make_shared<GlaImpl>(config, rng); }};
}

}  // namespace lrnn
