#include "lrnn/runtime/mlstm.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "lrnn/io/mlstm_config.h"
#include "lrnn/io/skeleton.h"
#include "lrnn/kernels/linear_attention.h"
#include "lrnn/runtime/linear.h"
#include "lrnn/runtime/short_conv.h"
#include "lrnn/runtime/silu.h"

namespace lrnn {
namespace {

constexpr float kDenominatorEps = 1e-6f;

class RuntimeMlstm : public RuntimeMixer {
 public:
  RuntimeMlstm(WeightReader& weights, const std::string& prefix) : sizes_(weights.config()) {
    const Fields& config = weights.config();
    const int64_t D = config.PositiveInt("hidden_size"), I = sizes_.inner, size = sizes_.block_size;
    allow_neg_eigval_ = config.Bool("allow_neg_eigval", false);
    eps_ = config.Double("norm_eps", SkeletonOf("mlstm").norm_eps);
    up_ = RuntimeLinear::Load(weights, prefix + ".proj_up", D, 2 * I);
    conv_ = RuntimeShortConv::Load(weights, prefix + ".conv1d.conv", I, sizes_.conv_width, /*has_bias=*/true);
    const auto blocks = [&](const char* name) {
      return weights.Read(prefix + name + ".weight", {I / size, size, size});
    };
    q_ = blocks(".q_proj");
    k_ = blocks(".k_proj");
    v_ = blocks(".v_proj");
    const auto gate = [&](const char* name) {
      return RuntimeLinear::Load(weights, prefix + ".mlstm_cell" + name, 3 * I, sizes_.heads, /*has_bias=*/true);
    };
    input_gate_ = gate(".igate");
    forget_gate_ = gate(".fgate");
    norm_ = weights.Read(prefix + ".mlstm_cell.outnorm.weight", {I});
    for (float& scale : norm_) scale += 1;
    skip_ = weights.Read(prefix + ".learnable_skip", {I});
    down_ = RuntimeLinear::Load(weights, prefix + ".proj_down", I, D);
  }

  int64_t StateSize() const override {
    return conv_.StateSize() + sizes_.heads + sizes_.inner * (sizes_.head_width + 1);
  }

  int64_t ScratchSize() const override {
    return 6 * sizes_.inner + 2 * (sizes_.inner + sizes_.heads) + 3 * sizes_.heads;
  }

  void Step(const float* x, float* state, float* scratch, float* y) const override {
    const int64_t I = sizes_.inner, H = sizes_.heads, K = sizes_.head_width;
    float* u = scratch;
    float* z = u + I;
    float* c = z + I;
    float* q = c + I;
    float* k = q + I;
    float* v = k + I;
    float* values = v + I;  // [H, K+1], 1 after each head's v
    float* o = values + I + H;
    float* input = o + I + H;
    float* forget = input + H;
    float* decay = forget + H;
    float* m = state + conv_.StateSize();
    float* S = m + H;

    up_.Apply(x, u);
    conv_.Step(u, state, c);
    BlockDiagonal(q_, c, q);
    BlockDiagonal(k_, c, k);
    BlockDiagonal(v_, u, v);
    input_gate_.Apply(q, input);  // of q, k and v, one after the other
    forget_gate_.Apply(q, forget);
    for (int64_t h = 0; h < H; ++h) {
      const double f = forget[h];
      // log sigmoid(f), or log|tanh(f / 2)|
      const double log_decay = allow_neg_eigval_ ? std::log(std::abs(std::tanh(f / 2)))
                                                 : std::min(f, 0.0) - std::log1p(std::exp(-std::abs(f)));
      const double before = m[h], after = std::max(log_decay + before, double{input[h]});
      const double magnitude = std::exp(log_decay + before - after);
      decay[h] = static_cast<float>(allow_neg_eigval_ ? std::copysign(magnitude, f) : magnitude);
      const double gate = std::exp(input[h] - after) / std::sqrt(static_cast<double>(K));
      for (int64_t i = h * K; i < (h + 1) * K; ++i) k[i] = static_cast<float>(gate * k[i]);
      std::copy_n(v + h * K, K, values + h * (K + 1));
      values[h * (K + 1) + K] = 1;
      m[h] = static_cast<float>(after);
    }
    kernels::LinearAttentionForward({1, kOneToken, H, H, K, K + 1, /*decay_per_channel=*/false},
                                    {.q = q, .k = k, .v = values, .decay = decay, .initial_state = S, .scale = 1.0f}, o,
                                    S, static_cast<float*>(nullptr), /*threads=*/1);
    for (int64_t h = 0; h < H; ++h) NormaliseHead(o + h * (K + 1), m[h], v + h * K);
    for (int64_t i = 0; i < I; ++i) v[i] = (norm_[i] * v[i] + skip_[i] * c[i]) * Silu(z[i]);
    down_.Apply(v, y);
  }

 private:
  // y = W x, W block-diagonal.
  void BlockDiagonal(const std::vector<float>& W, const float* x, float* y) const {
    const int64_t size = sizes_.block_size;
    for (int64_t row = 0; row < sizes_.inner; ++row) {
      const float* block = x + row / size * size;
      float sum = 0;
      for (int64_t i = 0; i < size; ++i) sum += W[row * size + i] * block[i];
      y[row] = sum;
    }
  }

  // o: C^T q, then n . q   ->   h less its mean, over its deviation
  void NormaliseHead(const float* o, float m, float* y) const {
    const int64_t K = sizes_.head_width;
    const double denominator = std::max(std::abs(o[K]), std::exp(-m)) + kDenominatorEps;
    double mean = 0, variance = 0;
    for (int64_t i = 0; i < K; ++i) mean += o[i] / denominator / static_cast<double>(K);
    for (int64_t i = 0; i < K; ++i) {
      const double centred = o[i] / denominator - mean;
      variance += centred * centred / static_cast<double>(K);
    }
    const double scale = 1 / std::sqrt(variance + eps_);
    for (int64_t i = 0; i < K; ++i) y[i] = static_cast<float>((o[i] / denominator - mean) * scale);
  }

  MlstmConfig sizes_;
  bool allow_neg_eigval_;
  double eps_;
  RuntimeLinear up_;              // u, z
  RuntimeShortConv conv_;         // of u
  std::vector<float> q_, k_, v_;  // [blocks, size, size]
  RuntimeLinear input_gate_, forget_gate_;
  std::vector<float> norm_;  // [I]
  std::vector<float> skip_;  // [I]
  RuntimeLinear down_;
};

}  // namespace

std::unique_ptr<RuntimeMixer> LoadRuntimeMlstm(WeightReader& weights, const std::string& prefix) {
  return std::make_unique<RuntimeMlstm>(weights, prefix);
}

}  // namespace lrnn
