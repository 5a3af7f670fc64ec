#include "lrnn/runtime/slstm.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "lrnn/io/skeleton.h"
#include "lrnn/io/slstm_config.h"
#include "lrnn/kernels/matvec.h"

namespace lrnn {
namespace {

class RuntimeSlstm : public RuntimeMixer {
 public:
  RuntimeSlstm(WeightReader& weights, const std::string& prefix)
      : sizes_(weights.config()),
        eps_(weights.config().Double("norm_eps", SkeletonOf("slstm").norm_eps)),
        weight_(8 * sizes_.heads * sizes_.head_width * sizes_.head_width) {
    const int64_t H = sizes_.heads, K = sizes_.head_width;
    const char* names[] = {".igate.weight", ".fgate.weight", ".zgate.weight", ".ogate.weight"};
    const std::vector<float> R = weights.Read(prefix + ".slstm_cell._recurrent_kernel_", {H, K, 4 * K});
    for (int64_t gate = 0; gate < 4; ++gate) {
      const std::vector<float> W = weights.Read(prefix + names[gate], {H, K, K});
      for (int64_t h = 0; h < H; ++h) {
        for (int64_t u = 0; u < K; ++u) {
          float* row = &weight_[((h * 4 + gate) * K + u) * 2 * K];
          std::copy_n(&W[(h * K + u) * K], K, row);
          for (int64_t l = 0; l < K; ++l) row[K + l] = R[(h * K + l) * 4 * K + gate * K + u];
        }
      }
    }
    bias_ = weights.Read(prefix + ".slstm_cell._bias_", {4 * H * K});
    norm_ = weights.Read(prefix + ".group_norm.weight", {H * K});
    for (float& scale : norm_) scale += 1;
  }

  int64_t StateSize() const override { return 4 * sizes_.heads * sizes_.head_width; }
  int64_t ScratchSize() const override { return 6 * sizes_.head_width; }

  void Step(const float* x, float* state, float* scratch, float* y) const override {
    const int64_t H = sizes_.heads, K = sizes_.head_width, D = H * K;
    float* both = scratch;           // x and h of a head
    float* gates = scratch + 2 * K;  // [4, K]
    for (int64_t h = 0; h < H; ++h) {
      std::copy_n(x + h * K, K, both);
      std::copy_n(state + h * K, K, both + K);
      kernels::MatVec(&weight_[h * 8 * K * K], both, &bias_[h * 4 * K], 4 * K, 2 * K, gates, /*threads=*/1);
      for (int64_t u = 0; u < K; ++u) StepUnit(gates + u, K, state + h * K + u, D);
      Normalise(state + h * K, &norm_[h * K], y + h * K);
    }
  }

 private:
  // Gates are `gate_stride` apart, h, c, n and m `state_stride`.
  static void StepUnit(const float* gates, int64_t gate_stride, float* state, int64_t state_stride) {
    const double input = gates[0], forget = gates[gate_stride], z = gates[2 * gate_stride], o = gates[3 * gate_stride];
    const double c = state[state_stride], n = state[2 * state_stride], m = state[3 * state_stride];
    const double kept = std::min(forget, 0.0) - std::log1p(std::exp(-std::abs(forget))) + m;
    const double after = n == 0 ? input : std::max(input, kept);
    const double i = std::exp(input - after), f = n == 0 ? 0 : std::exp(kept - after);
    const double next_c = f * c + i * std::tanh(z), next_n = f * n + i;
    state[0] = static_cast<float>(next_c / next_n / (1 + std::exp(-o)));
    state[state_stride] = static_cast<float>(next_c);
    state[2 * state_stride] = static_cast<float>(next_n);
    state[3 * state_stride] = static_cast<float>(after);
  }

  // A head less its mean, over its deviation, times its scale.
  void Normalise(const float* h, const float* scale, float* y) const {
    const int64_t K = sizes_.head_width;
    double mean = 0, variance = 0;
    for (int64_t u = 0; u < K; ++u) mean += h[u] / static_cast<double>(K);
    for (int64_t u = 0; u < K; ++u) variance += (h[u] - mean) * (h[u] - mean) / static_cast<double>(K);
    const double factor = 1 / std::sqrt(variance + eps_);
    for (int64_t u = 0; u < K; ++u) y[u] = static_cast<float>((h[u] - mean) * factor * scale[u]);
  }

  SlstmConfig sizes_;
  double eps_;
  std::vector<float> weight_;  // [H, 4, K, 2 K]: of x, then of h
  std::vector<float> bias_;    // [H, 4, K]
  std::vector<float> norm_;    // [D]
};

}  // namespace

std::unique_ptr<RuntimeMixer> LoadRuntimeSlstm(WeightReader& weights, const std::string& prefix) {
  return std::make_unique<RuntimeSlstm>(weights, prefix);
}

}  // namespace lrnn
