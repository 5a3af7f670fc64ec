#include "lrnn/runtime/delta_rule.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "lrnn/io/delta_rule_config.h"
#include "lrnn/kernels/delta_rule.h"
#include "lrnn/kernels/l2_norm.h"
#include "lrnn/kernels/rms_norm.h"
#include "lrnn/runtime/linear.h"
#include "lrnn/runtime/short_conv.h"
#include "lrnn/runtime/silu.h"

namespace lrnn {
namespace {

constexpr float kL2Eps = 1e-6f;

float Softplus(float x) { return x > 20.0f ? x : std::log1p(std::exp(x)); }

class RuntimeDeltaRule : public RuntimeMixer {
 public:
  RuntimeDeltaRule(WeightReader& weights, const std::string& prefix, const DeltaRuleConfig& config)
      : config_(config),
        q_(config.keys()),
        k_(config.householders * config.keys()),
        v_(config.householders * config.values()),
        betas_(config.householders * config.value_heads) {
    const auto linear = [&](const char* name, int64_t out) {
      return RuntimeLinear::Load(weights, prefix + name, config.width, out);
    };
    std::vector<RuntimeLinear> in{linear(".q_proj", q_), linear(".k_proj", k_), linear(".v_proj", v_),
                                  linear(".b_proj", betas_)};
    if (config.has_decay) {
      in.push_back(linear(".a_proj", config.value_heads));
      negative_A_ = weights.Read(prefix + ".A_log", {config.value_heads});
      for (float& value : negative_A_) value = -std::exp(value);
      dt_bias_ = weights.Read(prefix + ".dt_bias", {config.value_heads});
    }
    if (config.has_output_gate) in.push_back(linear(".g_proj", config.values()));
    in_proj_ = RuntimeLinear::Stack(in);
    if (config.conv_width > 0) {
      const auto conv = [&](const char* name, int64_t channels) {
        return RuntimeShortConv::Load(weights, prefix + name, channels, config.conv_width, /*has_bias=*/false);
      };
      conv_ = RuntimeShortConv::Stack({conv(".q_conv1d", q_), conv(".k_conv1d", k_), conv(".v_conv1d", v_)});
    }
    o_norm_ = weights.Read(prefix + ".o_norm.weight", {config.value_width});
    o_proj_ = RuntimeLinear::Load(weights, prefix + ".o_proj", config.values(), config.width);
  }

  int64_t StateSize() const override { return conv_.StateSize() + config_.key_width * config_.values(); }

  int64_t ScratchSize() const override {
    return in_proj_.out + (q_ + k_ + v_) + (1 + SharedBy()) * (q_ + k_) + config_.value_heads + 2 * config_.values();
  }

  void Step(const float* x, float* state, float* scratch, float* y) const override {
    float* projected = scratch;                // q, k, v, beta, decay, output gate
    float* active = projected + in_proj_.out;  // q, k, v after convolution and activation
    float* unit = active + q_ + k_ + v_;       // q, k of length 1
    float* spread = unit + q_ + k_;            // the same for every head of v
    float* decay = spread + SharedBy() * (q_ + k_);
    float* o = decay + config_.value_heads;
    float* normed = o + config_.values();
    float* S = state + conv_.StateSize();
    const int64_t H = config_.value_heads, K = config_.key_width, V = config_.value_width;

    in_proj_.Apply(x, projected);
    Activate(projected, state, active);
    kernels::L2Norm(kernels::StridedRows<float>::Contiguous(active, (q_ + k_) / K, K), K, kL2Eps, unit, 1);
    const float* qk = unit;
    if (SharedBy() > 1) {
      float* to = spread;
      for (const float* head = unit; head < unit + q_ + k_; head += K) {
        for (int64_t i = 0; i < SharedBy(); ++i, to += K) std::copy_n(head, K, to);
      }
      qk = spread;
    }

    float* beta = projected + q_ + k_ + v_;
    const float largest = config_.allow_neg_eigval ? 2.0f : 1.0f, m = static_cast<float>(config_.beta_margin);
    for (int64_t i = 0; i < betas_; ++i) {
      beta[i] = largest * std::clamp((1 + 2 * m) / (1.0f + std::exp(-beta[i])) - m, 0.0f, 1.0f);
    }
    const float* rest = beta + betas_;
    if (config_.has_decay) {
      for (int64_t h = 0; h < H; ++h) decay[h] = std::exp(negative_A_[h] * Softplus(rest[h] + dt_bias_[h]));
      rest += H;
    }

    kernels::DeltaRuleForward({1, kOneToken, H, K, V, config_.householders},
                              {.q = qk,
                               .k = qk + SharedBy() * q_,
                               .v = active + q_ + k_,
                               .beta = beta,
                               .decay = config_.has_decay ? decay : nullptr,
                               .initial_state = S,
                               .scale = 1.0f / std::sqrt(static_cast<float>(K))},
                              o, S, {nullptr, nullptr}, /*threads=*/1);
    kernels::RmsNorm(o, V, H, V, o_norm_.data(), static_cast<float>(config_.norm_eps), normed, 1);
    if (config_.has_output_gate) {
      for (int64_t i = 0; i < config_.values(); ++i) normed[i] *= Silu(rest[i]);
    }
    o_proj_.Apply(normed, y);
  }

 private:
  // How many heads of v share a key.
  int64_t SharedBy() const { return config_.value_heads / config_.heads; }

  // One step of the short convolutions on q, k and v, if there are any, and the activations.
  void Activate(const float* x, float* state, float* y) const {
    if (conv_.channels > 0) {
      conv_.Step(x, state, y, config_.silu_qk);
      x = y;
      if (config_.silu_qk) return;
    }
    const int64_t linear = config_.silu_qk ? 0 : q_ + k_;
    if (x != y) std::copy_n(x, linear, y);
    for (int64_t i = linear; i < q_ + k_ + v_; ++i) y[i] = Silu(x[i]);
  }

  const DeltaRuleConfig config_;
  const int64_t q_, k_, v_, betas_;  // channels of each, k, v and beta of all steps
  RuntimeLinear in_proj_;            // q, k, v, beta, decay, output gate
  RuntimeShortConv conv_;            // of q, k and v; no channels without convolution
  std::vector<float> negative_A_;    // [H], -exp(A_log)
  std::vector<float> dt_bias_;       // [H]
  std::vector<float> o_norm_;        // [V]
  RuntimeLinear o_proj_;
};

}  // namespace

std::unique_ptr<RuntimeMixer> LoadRuntimeDeltaNet(WeightReader& weights, const std::string& prefix) {
  return std::make_unique<RuntimeDeltaRule>(weights, prefix, ReadDeltaNet(weights.config()));
}

std::unique_ptr<RuntimeMixer> LoadRuntimeGatedDeltaNet(WeightReader& weights, const std::string& prefix) {
  return std::make_unique<RuntimeDeltaRule>(weights, prefix, ReadGatedDeltaNet(weights.config()));
}

std::unique_ptr<RuntimeMixer> LoadRuntimeGatedDeltaProduct(WeightReader& weights, const std::string& prefix) {
  return std::make_unique<RuntimeDeltaRule>(weights, prefix, ReadGatedDeltaProduct(weights.config()));
}

}  // namespace lrnn
