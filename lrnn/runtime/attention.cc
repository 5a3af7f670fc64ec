#include "lrnn/runtime/attention.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "lrnn/base/error.h"
#include "lrnn/io/attention_config.h"
#include "lrnn/kernels/attention.h"
#include "lrnn/runtime/linear.h"

namespace lrnn {
namespace {

constexpr int64_t kMostTokens = int64_t{1} << 24;  // a float counts them

class RuntimeAttention : public RuntimeMixer {
 public:
  RuntimeAttention(WeightReader& weights, const std::string& prefix)
      : sizes_(weights.config()), D_(sizes_.heads * sizes_.head_width) {
    const auto linear = [&](const char* name) { return RuntimeLinear::Load(weights, prefix + name, D_, D_); };
    in_proj_ = RuntimeLinear::Stack({linear(".q_proj"), linear(".k_proj"), linear(".v_proj")});
    o_proj_ = linear(".o_proj");
    const auto K = static_cast<double>(sizes_.head_width);
    for (int64_t i = 0; i < sizes_.head_width / 2; ++i) {
      frequencies_.push_back(std::pow(sizes_.rope_theta, -2 * static_cast<double>(i) / K));
    }
  }

  int64_t StateSize() const override { return 1; }
  int64_t StateGrowth() const override { return 2 * D_; }
  int64_t ScratchSize() const override { return 4 * D_; }

  void Step(const float* x, float* state, float* scratch, float* y) const override {
    const auto before = static_cast<int64_t>(state[0]);
    LRNN_CHECK(before < kMostTokens, "[attention] expected a stream of at most {} tokens, got more", kMostTokens);
    state[0] = static_cast<float>(before + 1);
    float* const past = state + 1;
    float* const o = scratch + 3 * D_;
    in_proj_.Apply(x, scratch);  // q, k, v
    Turn(before, scratch);
    Turn(before, scratch + D_);
    std::copy_n(scratch + D_, 2 * D_, past + before * 2 * D_);
    const int32_t cu_keys[2] = {0, static_cast<int32_t>(before + 1)};
    const int64_t K = sizes_.head_width;
    kernels::Attention({1, kOneToken, cu_keys, sizes_.heads, K, K},
                       kernels::AttentionInputs<float>{.q = scratch,
                                                       .q_stride = D_,
                                                       .k = past,
                                                       .k_stride = 2 * D_,
                                                       .v = past + D_,
                                                       .v_stride = 2 * D_,
                                                       .scale = 1 / std::sqrt(static_cast<float>(K))},
                       o, nullptr, /*threads=*/1);
    o_proj_.Apply(o, y);
  }

 private:
  // Every head of x: [D] by the angles of the position.
  void Turn(int64_t position, float* x) const {
    const int64_t pairs = sizes_.head_width / 2;
    for (int64_t i = 0; i < pairs; ++i) {
      const double angle = static_cast<double>(position) * frequencies_[i];
      const auto c = static_cast<float>(std::cos(angle)), s = static_cast<float>(std::sin(angle));
      for (float* head = x; head < x + D_; head += 2 * pairs) {
        const float a = head[i], b = head[i + pairs];
        head[i] = a * c - b * s;
        head[i + pairs] = a * s + b * c;
      }
    }
  }

  AttentionConfig sizes_;
  int64_t D_;
  RuntimeLinear in_proj_;  // q, k, v
  RuntimeLinear o_proj_;
  std::vector<double> frequencies_;  // [K / 2]
};

}  // namespace

std::unique_ptr<RuntimeMixer> LoadRuntimeAttention(WeightReader& weights, const std::string& prefix) {
  return std::make_unique<RuntimeAttention>(weights, prefix);
}

}  // namespace lrnn
