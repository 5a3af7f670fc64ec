#include "lrnn/runtime/delta_net.h"

#include <cmath>
#include <vector>

#include "lrnn/io/head_width.h"
#include "lrnn/io/skeleton.h"
#include "lrnn/kernels/causal_conv.h"
#include "lrnn/kernels/delta_rule.h"
#include "lrnn/kernels/l2_norm.h"
#include "lrnn/kernels/rms_norm.h"
#include "lrnn/runtime/linear.h"
#include "lrnn/runtime/silu.h"

namespace lrnn {
namespace {

constexpr float kL2Eps = 1e-6f;

class RuntimeDeltaNet : public RuntimeMixer {
 public:
  RuntimeDeltaNet(WeightReader& weights, const std::string& prefix) {
    const Fields& config = weights.config();
    const int64_t D = config.PositiveInt("hidden_size");
    heads_ = config.PositiveInt("num_heads");
    keys_ = heads_ * HeadWidth(config, "expand_k", 1);
    values_ = heads_ * HeadWidth(config, "expand_v", 1);
    allow_neg_eigval_ = config.Bool("allow_neg_eigval", false);
    eps_ = static_cast<float>(config.Double("norm_eps", SkeletonOf("delta_net").norm_eps));
    const std::string activation = config.String("qk_activation", "silu");
    if (activation != "silu" && activation != "identity") config.Refuse("qk_activation", "\"silu\" or \"identity\"");
    silu_qk_ = activation == "silu";
    if (config.String("qk_norm", "l2") != "l2") config.Refuse("qk_norm", "\"l2\"");
    if (!config.Bool("use_beta", true)) config.Refuse("use_beta", "true");
    if (config.Bool("use_gate", false)) config.Refuse("use_gate", "false");
    if (config.Has("attn")) config.Refuse("attn", "null (no attention layers)");

    const auto linear = [&](const char* name, int64_t out) {
      return RuntimeLinear::Load(weights, prefix + name, D, out);
    };
    in_proj_ = RuntimeLinear::Stack(
        {linear(".q_proj", keys_), linear(".k_proj", keys_), linear(".v_proj", values_), linear(".b_proj", heads_)});
    if (config.Bool("use_short_conv", true)) {
      conv_width_ = config.PositiveInt("conv_size", 4);
      const auto conv = [&](const char* name, int64_t channels) {
        return weights.Read(prefix + name + ".weight", {channels, 1, conv_width_});
      };
      conv_qk_ = conv(".q_conv1d", keys_);
      const std::vector<float> conv_k = conv(".k_conv1d", keys_);
      conv_qk_.insert(conv_qk_.end(), conv_k.begin(), conv_k.end());
      conv_v_ = conv(".v_conv1d", values_);
    }
    o_norm_ = weights.Read(prefix + ".o_norm.weight", {values_ / heads_});
    o_proj_ = RuntimeLinear::Load(weights, prefix + ".o_proj", values_, D);
  }

  int64_t StateSize() const override { return (conv_width_ - 1) * (2 * keys_ + values_) + keys_ / heads_ * values_; }

  int64_t ScratchSize() const override { return in_proj_.out + 4 * keys_ + 3 * values_; }

  void Step(const float* x, float* state, float* scratch, float* y) const override {
    float* projected = scratch;  // q, k, v, beta
    float* qk = projected + in_proj_.out;
    float* v = qk + 2 * keys_;
    float* unit_qk = v + values_;
    float* o = unit_qk + 2 * keys_;
    float* normed = o + values_;
    float* state_qk = state;
    float* state_v = state_qk + (conv_width_ - 1) * 2 * keys_;
    float* S = state_v + (conv_width_ - 1) * values_;

    in_proj_.Apply(x, projected);
    Convolve(projected, 2 * keys_, conv_qk_, silu_qk_, state_qk, qk);
    Convolve(projected + 2 * keys_, values_, conv_v_, true, state_v, v);
    const int64_t K = keys_ / heads_, V = values_ / heads_;
    kernels::L2Norm(kernels::StridedRows<float>::Contiguous(qk, 2 * heads_, K), K, kL2Eps, unit_qk, 1);

    float* beta = projected + 2 * keys_ + values_;
    const float largest = allow_neg_eigval_ ? 2.0f : 1.0f;
    for (int64_t h = 0; h < heads_; ++h) beta[h] = largest / (1.0f + std::exp(-beta[h]));

    kernels::DeltaRuleForward({1, kOneToken, heads_, K, V, /*householders=*/1},
                              {.q = unit_qk,
                               .k = unit_qk + keys_,
                               .v = v,
                               .beta = beta,
                               .decay = nullptr,
                               .initial_state = S,
                               .scale = 1.0f / std::sqrt(static_cast<float>(K))},
                              o, S, {nullptr, nullptr}, /*threads=*/1);
    kernels::RmsNorm(o, V, heads_, V, o_norm_.data(), eps_, normed, 1);
    o_proj_.Apply(normed, y);
  }

 private:
  // One step of the short convolution, or only its activation when the layer has none.
  void Convolve(const float* x, int64_t channels, const std::vector<float>& weight, bool silu, float* state,
                float* y) const {
    if (weight.empty()) {
      for (int64_t i = 0; i < channels; ++i) y[i] = silu ? Silu(x[i]) : x[i];
      return;
    }
    kernels::CausalConv({.cu_seqlens = kOneToken,
                         .S = 1,
                         .D = channels,
                         .W = conv_width_,
                         .x = x,
                         .x_stride = channels,
                         .weight = weight.data(),
                         .initial_state = state,
                         .silu = silu},
                        y, state, /*threads=*/1);
  }

  int64_t heads_, keys_, values_;  // widths of all heads together
  int64_t conv_width_ = 1;
  bool allow_neg_eigval_, silu_qk_;
  float eps_;
  RuntimeLinear in_proj_;       // q, k, v, beta
  std::vector<float> conv_qk_;  // [2 H K, W], empty without convolution
  std::vector<float> conv_v_;   // [H V, W]
  std::vector<float> o_norm_;   // [V]
  RuntimeLinear o_proj_;
};

}  // namespace

std::unique_ptr<RuntimeMixer> LoadRuntimeDeltaNet(WeightReader& weights, const std::string& prefix) {
  return std::make_unique<RuntimeDeltaNet>(weights, prefix);
}

}  // namespace lrnn
