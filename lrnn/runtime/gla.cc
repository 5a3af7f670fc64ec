#include "lrnn/runtime/gla.h"

#include <cmath>
#include <vector>

#include "lrnn/io/head_width.h"
#include "lrnn/io/skeleton.h"
#include "lrnn/kernels/linear_attention.h"
#include "lrnn/kernels/rms_norm.h"
#include "lrnn/runtime/linear.h"
#include "lrnn/runtime/short_conv.h"
#include "lrnn/runtime/silu.h"

namespace lrnn {
namespace {

class RuntimeGla : public RuntimeMixer {
 public:
  RuntimeGla(WeightReader& weights, const std::string& prefix) {
    const Fields& config = weights.config();
    const int64_t D = config.PositiveInt("hidden_size");
    heads_ = config.PositiveInt("num_heads");
    keys_ = heads_ * HeadWidth(config, "expand_k", 0.5);
    values_ = heads_ * HeadWidth(config, "expand_v", 1);
    allow_neg_eigval_ = config.Bool("allow_neg_eigval", false);
    eps_ = static_cast<float>(config.Double("norm_eps", SkeletonOf("gla").norm_eps));
    gate_normalizer_ = config.Double("gate_logit_normalizer", 16);
    if (!(gate_normalizer_ > 0)) config.Refuse("gate_logit_normalizer", "a positive number");
    if (config.Int("num_kv_heads", heads_) != heads_) config.Refuse("num_kv_heads", "num_heads or null");
    if (config.Has("feature_map")) config.Refuse("feature_map", "null");
    if (config.Has("clamp_min")) config.Refuse("clamp_min", "null");
    if (config.Has("attn")) config.Refuse("attn", "null (no attention layers)");
    has_output_gate_ = config.Bool("use_output_gate", true);

    const int64_t rank = config.PositiveInt("gate_low_rank_dim", 16);
    const auto linear = [&](const char* name, int64_t out) {
      return RuntimeLinear::Load(weights, prefix + name, D, out);
    };
    std::vector<RuntimeLinear> in{linear(".q_proj", keys_), linear(".k_proj", keys_), linear(".v_proj", values_),
                                  linear(".gk_proj.0", rank)};
    if (has_output_gate_) in.push_back(linear(".g_proj", values_));
    in_proj_ = RuntimeLinear::Stack(in);
    gate_up_ = RuntimeLinear::Load(weights, prefix + ".gk_proj.1", rank, keys_, /*has_bias=*/true);
    if (config.Bool("use_short_conv", false)) {
      const int64_t width = config.PositiveInt("conv_size", 4);
      const auto conv = [&](const char* name, int64_t channels) {
        return RuntimeShortConv::Load(weights, prefix + name, channels, width, /*has_bias=*/false);
      };
      convs_ = {conv(".q_conv1d", keys_), conv(".k_conv1d", keys_), conv(".v_conv1d", values_)};
    }
    const bool fused = has_output_gate_ && config.Bool("fuse_norm", true);
    norm_ = weights.Read(prefix + (fused ? ".g_norm_swish_gate.weight" : ".g_norm.weight"), {values_ / heads_});
    o_proj_ = RuntimeLinear::Load(weights, prefix + ".o_proj", values_, D);
  }

  int64_t StateSize() const override {
    int64_t size = keys_ / heads_ * values_;
    for (const RuntimeShortConv& conv : convs_) size += conv.StateSize();
    return size;
  }

  int64_t ScratchSize() const override { return in_proj_.out + 3 * keys_ + 3 * values_; }

  void Step(const float* x, float* state, float* scratch, float* y) const override {
    float* projected = scratch;  // q, k, v, gate, output gate
    float* decay = projected + in_proj_.out;
    float* convolved = decay + keys_;  // q, k, v
    float* o = convolved + 2 * keys_ + values_;
    float* normed = o + values_;
    const int64_t K = keys_ / heads_, V = values_ / heads_;

    in_proj_.Apply(x, projected);
    const float* low = projected + 2 * keys_ + values_;
    const float* output_gate = low + gate_up_.in;
    gate_up_.Apply(low, decay);
    for (int64_t i = 0; i < keys_; ++i) decay[i] = Decay(decay[i]);

    const float* qkv = projected;
    if (!convs_.empty()) {
      float* to = convolved;
      const float* from = projected;
      for (const RuntimeShortConv& conv : convs_) {
        conv.Step(from, state, to);
        from += conv.channels;
        to += conv.channels;
        state += conv.StateSize();
      }
      qkv = convolved;
    }
    kernels::LinearAttentionForward({1, kOneToken, heads_, heads_, K, V, /*decay_per_channel=*/true},
                                    {.q = qkv,
                                     .k = qkv + keys_,
                                     .v = qkv + 2 * keys_,
                                     .decay = decay,
                                     .initial_state = state,
                                     .scale = 1.0f / std::sqrt(static_cast<float>(K))},
                                    o, state, static_cast<float*>(nullptr), /*threads=*/1);
    kernels::RmsNorm(o, V, heads_, V, norm_.data(), eps_, normed, 1);
    if (has_output_gate_) {
      for (int64_t i = 0; i < values_; ++i) normed[i] *= Silu(output_gate[i]);
    }
    o_proj_.Apply(normed, y);
  }

 private:
  // sigmoid(z)^(1/c) = exp(-softplus(-z) / c)
  float Decay(float z) const {
    const double softplus = std::max(-z, 0.0f) + std::log1p(std::exp(-std::abs(double{z})));
    const double s = std::exp(-softplus / gate_normalizer_);
    return static_cast<float>(allow_neg_eigval_ ? 2 * s - 1 : s);
  }

  int64_t heads_, keys_, values_;  // widths of all heads together
  bool allow_neg_eigval_, has_output_gate_;
  float eps_;
  double gate_normalizer_;
  RuntimeLinear in_proj_;                // q, k, v, gate, output gate
  RuntimeLinear gate_up_;                // [H K, rank]
  std::vector<RuntimeShortConv> convs_;  // of q, k, v; empty without convolution
  std::vector<float> norm_;              // [V]
  RuntimeLinear o_proj_;
};

}  // namespace

std::unique_ptr<RuntimeMixer> LoadRuntimeGla(WeightReader& weights, const std::string& prefix) {
  return std::make_unique<RuntimeGla>(weights, prefix);
}

}  // namespace lrnn
