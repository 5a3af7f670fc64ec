#include "lrnn/runtime/mamba2.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "lrnn/io/mamba2_config.h"
#include "lrnn/io/skeleton.h"
#include "lrnn/kernels/linear_attention.h"
#include "lrnn/kernels/rms_norm.h"
#include "lrnn/runtime/linear.h"
#include "lrnn/runtime/short_conv.h"
#include "lrnn/runtime/silu.h"

namespace lrnn {
namespace {

class RuntimeMamba2 : public RuntimeMixer {
 public:
  RuntimeMamba2(WeightReader& weights, const std::string& prefix) : sizes_(weights.config()) {
    const Fields& config = weights.config();
    const int64_t D = config.PositiveInt("hidden_size"), I = sizes_.inner();
    allow_neg_eigval_ = config.Bool("allow_neg_eigval", false);
    eps_ = static_cast<float>(config.Double("layer_norm_epsilon", SkeletonOf("mamba2").norm_eps));
    const bool has_bias = config.Bool("use_bias", false);
    in_proj_ = RuntimeLinear::Load(weights, prefix + ".in_proj", D, I + sizes_.convolved() + sizes_.heads, has_bias);
    conv_ = RuntimeShortConv::Load(weights, prefix + ".conv1d", sizes_.convolved(),
                                   config.PositiveInt("conv_kernel", 4), config.Bool("use_conv_bias", true));
    dt_bias_ = weights.Read(prefix + ".dt_bias", {sizes_.heads});
    A_ = weights.Read(prefix + ".A_log", {sizes_.heads});
    for (float& a : A_) a = -std::exp(a);
    D_ = weights.Read(prefix + ".D", {sizes_.heads});
    norm_ = weights.Read(prefix + ".norm.weight", {I});
    out_proj_ = RuntimeLinear::Load(weights, prefix + ".out_proj", I, D, has_bias);
  }

  int64_t StateSize() const override { return conv_.StateSize() + sizes_.states * sizes_.inner(); }

  int64_t ScratchSize() const override { return in_proj_.out + sizes_.convolved() + 2 * sizes_.inner() + sizes_.heads; }

  void Step(const float* x, float* state, float* scratch, float* y) const override {
    const int64_t H = sizes_.heads, P = sizes_.head_width, G = sizes_.groups, N = sizes_.states, I = sizes_.inner();
    float* z = scratch;
    float* before_conv = z + I;  // u, B, C
    float* dt = before_conv + sizes_.convolved();
    float* u = dt + H;
    float* B = u + I;
    float* C = B + G * N;
    float* v = C + G * N;
    float* o = v + I;
    float* decay = o + I;
    float* S = state + conv_.StateSize();

    in_proj_.Apply(x, z);
    conv_.Step(before_conv, state, u);
    for (int64_t h = 0; h < H; ++h) {
      const float raw = dt[h] + dt_bias_[h];
      const float step = std::max(raw, 0.0f) + std::log1p(std::exp(-std::abs(raw)));
      const float a = std::exp(step * A_[h]);
      decay[h] = allow_neg_eigval_ ? 2 * a - 1 : a;
      for (int64_t i = h * P; i < (h + 1) * P; ++i) v[i] = step * u[i];
    }
    kernels::LinearAttentionForward({1, kOneToken, H, G, N, P, /*decay_per_channel=*/false},
                                    {.q = C, .k = B, .v = v, .decay = decay, .initial_state = S, .scale = 1.0f}, o, S,
                                    static_cast<float*>(nullptr), /*threads=*/1);
    for (int64_t i = 0; i < I; ++i) o[i] = (o[i] + D_[i / P] * u[i]) * Silu(z[i]);
    for (int64_t i = 0; i < I; i += I / G) kernels::RmsNorm(o + i, I / G, 1, I / G, norm_.data() + i, eps_, v + i, 1);
    out_proj_.Apply(v, y);
  }

 private:
  Mamba2Config sizes_;
  bool allow_neg_eigval_;
  float eps_;
  RuntimeLinear in_proj_;       // z, u, B, C, dt
  RuntimeShortConv conv_;       // of u, B, C
  std::vector<float> dt_bias_;  // [H]
  std::vector<float> A_;        // [H]
  std::vector<float> D_;        // [H]
  std::vector<float> norm_;     // [I]
  RuntimeLinear out_proj_;
};

}  // namespace

std::unique_ptr<RuntimeMixer> LoadRuntimeMamba2(WeightReader& weights, const std::string& prefix) {
  return std::make_unique<RuntimeMamba2>(weights, prefix);
}

}  // namespace lrnn
