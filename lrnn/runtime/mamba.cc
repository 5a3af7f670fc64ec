#include "lrnn/runtime/mamba.h"

#include <cmath>
#include <limits>
#include <vector>

#include "lrnn/kernels/causal_conv.h"
#include "lrnn/kernels/selective_scan.h"
#include "lrnn/runtime/linear.h"

namespace lrnn {
namespace {

class RuntimeMamba : public RuntimeMixer {
 public:
  RuntimeMamba(WeightReader& weights, const std::string& prefix) {
    const Fields& config = weights.config();
    const int64_t D = config.PositiveInt("hidden_size");
    const double channels = static_cast<double>(D) * config.Double("expand", 2.0);
    if (!(channels >= 1 && channels <= std::numeric_limits<int32_t>::max())) {
      config.Refuse("expand", "a number that makes the width at least 1");
    }
    channels_ = static_cast<int64_t>(channels);
    states_ = config.PositiveInt("state_size", 16);
    conv_width_ = config.PositiveInt("conv_kernel", 4);
    rank_ = Rank(config, D);
    allow_neg_eigval_ = config.Bool("allow_neg_eigval", false);
    if (config.String("hidden_act", "silu") != "silu") config.Refuse("hidden_act", "\"silu\"");
    const bool has_bias = config.Bool("use_bias", false);

    in_proj_ = RuntimeLinear::Load(weights, prefix + ".in_proj", D, 2 * channels_, has_bias);
    conv_weight_ = weights.Read(prefix + ".conv1d.weight", {channels_, 1, conv_width_});
    if (config.Bool("use_conv_bias", true)) conv_bias_ = weights.Read(prefix + ".conv1d.bias", {channels_});
    x_proj_ = RuntimeLinear::Load(weights, prefix + ".x_proj", channels_, rank_ + 2 * states_);
    dt_proj_ = RuntimeLinear::Load(weights, prefix + ".dt_proj", rank_, channels_);
    dt_bias_ = weights.Read(prefix + ".dt_proj.bias", {channels_});
    A_ = weights.Read(prefix + ".A_log", {channels_, states_});
    for (float& a : A_) a = -std::exp(a);
    D_ = weights.Read(prefix + ".D", {channels_});
    out_proj_ = RuntimeLinear::Load(weights, prefix + ".out_proj", channels_, D, has_bias);
  }

  int64_t StateSize() const override { return (conv_width_ - 1 + states_) * channels_; }

  int64_t ScratchSize() const override { return 5 * channels_ + x_proj_.out; }

  void Step(const float* x, float* state, float* scratch, float* y) const override {
    float* uz = scratch;
    float* u = uz + 2 * channels_;
    float* low = u + channels_;  // dt_low, B, C
    float* delta = low + x_proj_.out;
    float* gated = delta + channels_;
    float* conv_state = state;
    float* h = conv_state + (conv_width_ - 1) * channels_;

    in_proj_.Apply(x, uz);
    kernels::CausalConv({.cu_seqlens = kOneToken,
                         .S = 1,
                         .D = channels_,
                         .W = conv_width_,
                         .x = uz,
                         .x_stride = 2 * channels_,
                         .weight = conv_weight_.data(),
                         .bias = conv_bias_.empty() ? nullptr : conv_bias_.data(),
                         .initial_state = conv_state,
                         .silu = true},
                        u, conv_state, /*threads=*/1);
    x_proj_.Apply(u, low);
    dt_proj_.Apply(low, delta);
    kernels::SelectiveScanForward({.channels = channels_,
                                   .states = states_,
                                   .sequences = 1,
                                   .cu_seqlens = kOneToken,
                                   .u = u,
                                   .u_stride = channels_,
                                   .delta = delta,
                                   .delta_stride = channels_,
                                   .A = A_.data(),
                                   .B = low + rank_,
                                   .B_stride = states_,
                                   .C = low + rank_ + states_,
                                   .C_stride = states_,
                                   .D = D_.data(),
                                   .z = uz + channels_,
                                   .z_stride = channels_,
                                   .delta_bias = dt_bias_.data(),
                                   .initial_state = h,
                                   .delta_softplus = true,
                                   .allow_neg_eigval = allow_neg_eigval_},
                                  {.y = gated, .y_stride = channels_, .final_state = h}, /*threads=*/1);
    out_proj_.Apply(gated, y);
  }

 private:
  // "auto" stands for ceil(D / 16) in the field's configs.
  static int64_t Rank(const Fields& config, int64_t D) {
    constexpr char kName[] = "time_step_rank";
    if (!config.Has(kName) || config.json()[kName] == "auto") return (D + 15) / 16;
    if (config.json()[kName].is_string()) config.Refuse(kName, "a positive integer or \"auto\"");
    return config.PositiveInt(kName);
  }

  int64_t channels_, states_, conv_width_, rank_;  // I, N, W, R
  bool allow_neg_eigval_;
  RuntimeLinear in_proj_;           // u, z
  std::vector<float> conv_weight_;  // [I, W]
  std::vector<float> conv_bias_;    // [I], or empty
  RuntimeLinear x_proj_;            // dt_low, B, C
  RuntimeLinear dt_proj_;           // without its bias: the scan adds it
  std::vector<float> dt_bias_;      // [I]
  std::vector<float> A_;            // [I, N]
  std::vector<float> D_;            // [I]
  RuntimeLinear out_proj_;
};

}  // namespace

std::unique_ptr<RuntimeMixer> LoadRuntimeMamba(WeightReader& weights, const std::string& prefix) {
  return std::make_unique<RuntimeMamba>(weights, prefix);
}

}  // namespace lrnn
