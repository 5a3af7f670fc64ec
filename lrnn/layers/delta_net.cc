#include "lrnn/layers/delta_net.h"

#include <cmath>

#include "lrnn/io/head_width.h"
#include "lrnn/layers/initialise.h"
#include "lrnn/ops/delta_rule.h"
#include "lrnn/ops/l2_norm.h"

namespace lrnn {
namespace {

constexpr double kL2Eps = 1e-6;

}  // namespace

DeltaNetImpl::DeltaNetImpl(const Fields& config, Rng& rng)
    : heads_(config.PositiveInt("num_heads")),
      key_width_(HeadWidth(config, "expand_k", 1)),
      value_width_(HeadWidth(config, "expand_v", 1)),
      has_conv_(config.Bool("use_short_conv")),
      allow_neg_eigval_(config.Bool("allow_neg_eigval")) {
  const std::string activation = config.String("qk_activation");
  if (activation != "silu" && activation != "identity") config.Refuse("qk_activation", "\"silu\" or \"identity\"");
  silu_qk_ = activation == "silu";
  if (config.String("qk_norm", "l2") != "l2") config.Refuse("qk_norm", "\"l2\"");
  if (!config.Bool("use_beta", true)) config.Refuse("use_beta", "true");
  if (config.Bool("use_gate", false)) config.Refuse("use_gate", "false");

  const int64_t D = config.PositiveInt("hidden_size"), keys = heads_ * key_width_, values = heads_ * value_width_;
  const double gain = std::pow(2.0, -2.5);
  const auto linear = [&](const char* name, int64_t in, int64_t out) {
    Linear layer = register_module(name, Linear(in, out));
    FillXavierUniform(layer->weight, gain, rng);
    return layer;
  };
  q_proj_ = linear("q_proj", D, keys);
  k_proj_ = linear("k_proj", D, keys);
  v_proj_ = linear("v_proj", D, values);
  b_proj_ = linear("b_proj", D, heads_);
  if (has_conv_) {
    const int64_t width = config.PositiveInt("conv_size");
    q_conv_ = register_module("q_conv1d", ShortConv(keys, width, false, rng));
    k_conv_ = register_module("k_conv1d", ShortConv(keys, width, false, rng));
    v_conv_ = register_module("v_conv1d", ShortConv(values, width, false, rng));
  }
  o_norm_ = register_module("o_norm", RmsNorm(value_width_, config.Double("norm_eps")));
  o_proj_ = linear("o_proj", values, D);
}

DeltaNetImpl::Projected DeltaNetImpl::Project(const torch::Tensor& x, const ops::Sequences& sequences,
                                              MixerState* state) {
  const int64_t T = x.size(0);
  const auto projected = MultiplyTogether(x, {q_proj_, k_proj_, v_proj_, b_proj_});
  torch::Tensor q = projected[0], k = projected[1], v = projected[2];
  if (has_conv_) {
    const auto conv_state = [&](size_t i) { return state ? &(*state)[i] : nullptr; };
    q = q_conv_->forward(q, sequences, silu_qk_, conv_state(0));
    k = k_conv_->forward(k, sequences, silu_qk_, conv_state(1));
    v = v_conv_->forward(v, sequences, true, conv_state(2));
  } else {
    if (silu_qk_) q = torch::silu(q), k = torch::silu(k);
    v = torch::silu(v);
  }
  const torch::Tensor beta = torch::sigmoid(projected[3]);
  return {ops::L2Norm(q.reshape({T, heads_, key_width_}), kL2Eps),
          ops::L2Norm(k.reshape({T, heads_, key_width_}), kL2Eps), v.reshape({T, heads_, value_width_}),
          allow_neg_eigval_ ? 2 * beta : beta};
}

torch::Tensor DeltaNetImpl::forward(const torch::Tensor& x, const ops::Sequences& sequences, MixerState* state) {
  if (state && state->empty()) state->resize(has_conv_ ? 4 : 1);
  const Projected p = Project(x, sequences, state);
  const bool has_state = state && state->back().defined();
  const auto result =
      ops::DeltaRule(p.q, p.k.unsqueeze(1), p.v.unsqueeze(1), p.beta.unsqueeze(1), c10::nullopt,
                     {.scale = 1 / std::sqrt(static_cast<double>(key_width_)), .return_final_state = state != nullptr},
                     sequences, has_state ? c10::optional<torch::Tensor>(state->back()) : c10::nullopt);
  if (state) state->back() = result.final_state;
  return o_proj_->forward(o_norm_->forward(result.o).reshape({x.size(0), heads_ * value_width_}));
}

EigenvalueRange DeltaNetImpl::eigenvalue_range() const { return {allow_neg_eigval_ ? -1.0 : 0.0, 1.0}; }

torch::Tensor DeltaNetImpl::Eigenvalues(const torch::Tensor& x, const ops::Sequences& sequences) {
  const Projected p = Project(x, sequences, nullptr);
  return 1 - p.beta * p.k.square().sum(-1);  // |k| is 1 only up to rounding and the epsilon of its norm
}

torch::Tensor DeltaNetImpl::Transitions(const torch::Tensor& x, const ops::Sequences& sequences) {
  const Projected p = Project(x, sequences, nullptr);
  const torch::Tensor key = p.k.unsqueeze(3);  // [T, H, K, 1]
  return torch::eye(key_width_, x.options()) - p.beta.view({-1, heads_, 1, 1}) * key.matmul(key.transpose(2, 3));
}

int64_t DeltaNetImpl::state_size() const {
  const int64_t conv = has_conv_ ? q_conv_->state_size() + k_conv_->state_size() + v_conv_->state_size() : 0;
  return conv + heads_ * key_width_ * value_width_;
}

LayerInfo DeltaNetInfo() {
  return {.name = "delta_net",
          .title = "DeltaNet",
          .transition = "I - beta k k^T",
          .original = {0, 1},
          .extended = {-1, 1},
          .keys = {{"num_heads", 4, "heads, each with a state of its own"},
                   {"expand_k", 1.0, "width of all keys / hidden_size"},
                   {"expand_v", 1.0, "width of all values / hidden_size"},
                   {"use_short_conv", true, "short convolutions on q, k and v"},
                   {"conv_size", 4, "their width"},
                   {"qk_activation", "silu", "activation of q and k: silu or identity"},
                   {"norm_eps", 1e-6, "epsilon of the norms"}},
          .make = [](const Fields& config, Rng& rng) { return std::make_shared<DeltaNetImpl>(config, rng); }};
}

}  // namespace lrnn
