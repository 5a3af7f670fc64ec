#include "lrnn/layers/delta_rule_mixer.h"

#include <cmath>

#include "lrnn/layers/initialise.h"
#include "lrnn/ops/delta_rule.h"
#include "lrnn/ops/l2_norm.h"
#include "lrnn/ops/linear.h"

namespace lrnn {
namespace {

constexpr double kL2Eps = 1e-6;

}  // namespace

torch::Tensor DeltaRuleBeta(const torch::Tensor& z, const DeltaRuleConfig& config, bool in_training) {
  torch::Tensor s = torch::sigmoid(z);
  const double m = in_training && !config.margin_in_training ? 0 : config.beta_margin;
  if (m > 0) s = ((1 + 2 * m) * s - m).clamp(0, 1);
  s = ops::RoundedLikeLinear(s);
  return config.allow_neg_eigval ? 2 * s : s;
}

DeltaRuleMixer::DeltaRuleMixer(const DeltaRuleConfig& config, Rng& rng) : config_(config) {
  const int64_t D = config.width, H = config.value_heads, n_h = config.householders;
  const int64_t keys = config.keys(), values = config.values();
  const double gain = std::pow(2.0, -2.5);
  const auto linear = [&](const char* name, int64_t in, int64_t out) {
    Linear layer = register_module(name, Linear(in, out));
    FillXavierUniform(layer->weight, gain, rng);
    return layer;
  };
  q_proj_ = linear("q_proj", D, keys);
  k_proj_ = linear("k_proj", D, n_h * keys);
  v_proj_ = linear("v_proj", D, n_h * values);
  b_proj_ = linear("b_proj", D, n_h * H);
  if (config.has_decay) {
    a_proj_ = linear("a_proj", D, H);
    const torch::Tensor A = FillUniform(torch::empty({H}), 8, rng) + 8;  // U(0, 16)
    A_log_ = register_parameter("A_log", torch::log(A));
    dt_bias_ = register_parameter("dt_bias", FillTimeStepBias(torch::empty({H}), rng));
  }
  if (config.conv_width > 0) {
    q_conv_ = register_module("q_conv1d", ShortConv(keys, config.conv_width, false, rng));
    k_conv_ = register_module("k_conv1d", ShortConv(n_h * keys, config.conv_width, false, rng));
    v_conv_ = register_module("v_conv1d", ShortConv(n_h * values, config.conv_width, false, rng));
  }
  if (config.has_output_gate) g_proj_ = linear("g_proj", D, values);
  o_norm_ = register_module("o_norm", RmsNorm(config.value_width, config.norm_eps));
  o_proj_ = linear("o_proj", values, D);
}

DeltaRuleMixer::Projected DeltaRuleMixer::Project(const torch::Tensor& x, const ops::Sequences& sequences,
                                                  MixerState* state) {
  const int64_t T = x.size(0), n_h = config_.householders, H = config_.value_heads;
  std::vector<Linear> layers{q_proj_, k_proj_, v_proj_, b_proj_};
  if (a_proj_) layers.push_back(a_proj_);
  if (g_proj_) layers.push_back(g_proj_);
  const auto projected = MultiplyTogether(x, layers);
  torch::Tensor q = projected[0], k = projected[1], v = projected[2];
  if (q_conv_) {
    const auto conv_state = [&](size_t i) { return state ? &(*state)[i] : nullptr; };
    q = q_conv_->forward(q, sequences, config_.silu_qk, conv_state(0));
    k = k_conv_->forward(k, sequences, config_.silu_qk, conv_state(1));
    v = v_conv_->forward(v, sequences, true, conv_state(2));
  } else {
    if (config_.silu_qk) q = torch::silu(q), k = torch::silu(k);
    v = torch::silu(v);
  }
  const auto heads_of_v = [&](const torch::Tensor& z, int64_t head_dimension) {
    return H == config_.heads ? z : z.repeat_interleave(H / config_.heads, head_dimension);
  };
  Projected p{heads_of_v(ops::L2Norm(q.reshape({T, config_.heads, config_.key_width}), kL2Eps), 1),
              heads_of_v(ops::L2Norm(k.reshape({T, n_h, config_.heads, config_.key_width}), kL2Eps), 2),
              v.reshape({T, n_h, H, config_.value_width}),
              DeltaRuleBeta(projected[3], config_, is_training()).view({T, n_h, H}),
              c10::nullopt,
              g_proj_ ? projected.back() : torch::Tensor()};
  if (a_proj_) p.decay = torch::exp(-torch::exp(A_log_) * torch::softplus(projected[4] + dt_bias_));
  return p;
}

torch::Tensor DeltaRuleMixer::forward(const torch::Tensor& x, const ops::Sequences& sequences, MixerState* state) {
  if (state && state->empty()) state->resize(q_conv_ ? 4 : 1);
  const Projected p = Project(x, sequences, state);
  const bool has_state = state && state->back().defined();
  const auto result = ops::DeltaRule(
      p.q, p.k, p.v, p.beta, p.decay,
      {.scale = 1 / std::sqrt(static_cast<double>(config_.key_width)), .return_final_state = state != nullptr},
      sequences, has_state ? c10::optional<torch::Tensor>(state->back()) : c10::nullopt);
  if (state) state->back() = result.final_state;
  torch::Tensor o = o_norm_->forward(result.o).reshape({x.size(0), config_.values()});
  if (g_proj_) o = o * torch::silu(p.output_gate);
  return o_proj_->forward(o);
}

EigenvalueRange DeltaRuleMixer::eigenvalue_range() const {
  return {config_.allow_neg_eigval || config_.householders > 2 ? -1.0 : 0.0, 1.0};
}

torch::Tensor DeltaRuleMixer::Eigenvalues(const torch::Tensor& x, const ops::Sequences& sequences) {
  const Projected p = Project(x, sequences, nullptr);
  const int64_t T = x.size(0), n_h = config_.householders, H = config_.value_heads;
  torch::Tensor eigenvalues;  // of the product
  if (n_h == 1) {
    eigenvalues = 1 - (p.beta * p.k.square().sum(-1)).transpose(1, 2);  // |k| is 1 only up to the epsilon of its norm
  } else {
    // The product maps a combination c of the keys to the combination prod_j (I - beta_j e_j g_j^T) c, g_j the row of
    // their products with k_j. What is orthogonal to all keys it leaves alone.
    const torch::Tensor keys = p.k.transpose(1, 2);                    // [T, H, n_h, K]
    const torch::Tensor products = keys.matmul(keys.transpose(2, 3));  // [T, H, n_h, n_h]
    torch::Tensor product = torch::eye(n_h, x.options()).expand({T, H, n_h, n_h});
    for (int64_t j = 0; j < n_h; ++j) {
      const torch::Tensor unit = torch::eye(n_h, x.options())[j].view({n_h, 1});
      const torch::Tensor row = products.select(2, j).unsqueeze(2).matmul(product);  // [T, H, 1, n_h]
      product = product - p.beta.select(1, j).view({T, H, 1, 1}) * unit.matmul(row);
    }
    eigenvalues = torch::linalg_eigvals(product);
  }
  if (!p.decay) return eigenvalues;
  const torch::Tensor decay = p.decay->unsqueeze(2);
  if (config_.key_width <= n_h) return decay * eigenvalues;
  return torch::cat({decay * eigenvalues, decay.to(eigenvalues.scalar_type())}, 2);
}

torch::Tensor DeltaRuleMixer::Transitions(const torch::Tensor& x, const ops::Sequences& sequences) {
  const Projected p = Project(x, sequences, nullptr);
  const int64_t T = x.size(0), H = config_.value_heads, K = config_.key_width;
  torch::Tensor A = torch::eye(K, x.options()).expand({T, H, K, K});
  if (p.decay) A = p.decay->view({T, H, 1, 1}) * A;
  for (int64_t j = 0; j < config_.householders; ++j) {
    const torch::Tensor key = p.k.select(1, j).unsqueeze(3);  // [T, H, K, 1]
    A = A - p.beta.select(1, j).view({T, H, 1, 1}) * key.matmul(key.transpose(2, 3).matmul(A));
  }
  return A;
}

int64_t DeltaRuleMixer::state_size() const {
  const int64_t conv = q_conv_ ? q_conv_->state_size() + k_conv_->state_size() + v_conv_->state_size() : 0;
  return conv + config_.key_width * config_.values();
}

std::vector<std::string> DeltaRuleMixer::WithoutWeightDecay() const {
  if (!config_.has_decay) return {};
  return {"A_log", "dt_bias"};
}

}  // namespace lrnn
