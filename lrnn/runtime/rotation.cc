#include "lrnn/runtime/rotation.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "lrnn/io/head_width.h"
#include "lrnn/io/skeleton.h"
#include "lrnn/kernels/linear_attention.h"
#include "lrnn/kernels/rms_norm.h"
#include "lrnn/runtime/linear.h"
#include "lrnn/runtime/silu.h"

namespace lrnn {
namespace {

double Softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }

class RuntimeRotation : public RuntimeMixer {
 public:
  RuntimeRotation(WeightReader& weights, const std::string& prefix) {
    const Fields& config = weights.config();
    const int64_t D = config.PositiveInt("hidden_size");
    heads_ = config.PositiveInt("num_heads");
    K_ = HeadWidth(config, "expand_k", 1);
    V_ = HeadWidth(config, "expand_v", 1);
    if (K_ % 2 != 0) config.Refuse("num_heads", "heads whose keys have an even width");
    eps_ = static_cast<float>(config.Double("norm_eps", SkeletonOf("rotation").norm_eps));
    const auto linear = [&](const char* name, int64_t out) {
      return RuntimeLinear::Load(weights, prefix + name, D, out);
    };
    in_proj_ =
        RuntimeLinear::Stack({linear(".q_proj", heads_ * K_), linear(".k_proj", heads_ * K_),
                              linear(".v_proj", heads_ * V_), linear(".g_proj", heads_ * V_),
                              linear(".dt_proj", heads_), linear(".a_proj", heads_), linear(".angle_proj", K_ / 2)});
    dt_bias_ = weights.Read(prefix + ".dt_proj.bias", {heads_});
    a_bias_ = weights.Read(prefix + ".a_proj.bias", {heads_});
    norm_ = weights.Read(prefix + ".o_norm.weight", {V_});
    o_proj_ = RuntimeLinear::Load(weights, prefix + ".o_proj", heads_ * V_, D);
  }

  int64_t StateSize() const override { return heads_ * K_ * V_; }
  int64_t ScratchSize() const override { return in_proj_.out + heads_ + 2 * heads_ * V_; }

  void Step(const float* x, float* state, float* scratch, float* y) const override {
    float* const q = scratch;
    float* const k = q + heads_ * K_;
    float* const v = k + heads_ * K_;
    const float* const gate = v + heads_ * V_;
    const float* const dt = gate + heads_ * V_;
    const float* const a = dt + heads_;
    const float* const angle = a + heads_;
    float* const decay = scratch + in_proj_.out;
    float* const o = decay + heads_;
    float* const normed = o + heads_ * V_;

    in_proj_.Apply(x, scratch);
    for (int64_t h = 0; h < heads_; ++h) {
      const double step = Softplus(double{dt[h]} + dt_bias_[h]);
      decay[h] = static_cast<float>(std::exp(-step * Softplus(double{a[h]} + a_bias_[h])));
      for (int64_t i = 0; i < K_; ++i) k[h * K_ + i] *= static_cast<float>(step);
      for (int64_t i = 0; i < K_ / 2; ++i) {
        TurnPlane(M_PI * std::tanh(double{angle[i]}) * step, state + (h * K_ + i) * V_);
      }
    }
    kernels::LinearAttentionForward({1, kOneToken, heads_, heads_, K_, V_, /*decay_per_channel=*/false},
                                    {.q = q,
                                     .k = k,
                                     .v = v,
                                     .decay = decay,
                                     .initial_state = state,
                                     .scale = 1.0f / std::sqrt(static_cast<float>(K_))},
                                    o, state, static_cast<float*>(nullptr), /*threads=*/1);
    kernels::RmsNorm(o, V_, heads_, V_, norm_.data(), eps_, normed, 1);
    for (int64_t i = 0; i < heads_ * V_; ++i) normed[i] *= Silu(gate[i]);
    o_proj_.Apply(normed, y);
  }

 private:
  // The plane of a row of S and the one K/2 behind it.
  void TurnPlane(double angle, float* row) const {
    const auto c = static_cast<float>(std::cos(angle)), s = static_cast<float>(std::sin(angle));
    float* const other = row + K_ / 2 * V_;
    for (int64_t j = 0; j < V_; ++j) {
      const float first = row[j], second = other[j];
      row[j] = c * first - s * second;
      other[j] = s * first + c * second;
    }
  }

  int64_t heads_, K_, V_;
  float eps_;
  RuntimeLinear in_proj_;                // q, k, v, gate, dt, a, angle
  std::vector<float> dt_bias_, a_bias_;  // [H]
  std::vector<float> norm_;              // [V]
  RuntimeLinear o_proj_;
};

}  // namespace

std::unique_ptr<RuntimeMixer> LoadRuntimeRotation(WeightReader& weights, const std::string& prefix) {
  return std::make_unique<RuntimeRotation>(weights, prefix);
}

}  // namespace lrnn
