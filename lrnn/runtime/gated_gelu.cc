#include "lrnn/runtime/gated_gelu.h"

#include <cmath>
#include <numbers>

#include "lrnn/io/slstm_config.h"
#include "lrnn/runtime/linear.h"

namespace lrnn {
namespace {

class RuntimeGatedGelu : public RuntimeMixer {
 public:
  RuntimeGatedGelu(WeightReader& weights, const std::string& prefix) : inner_(SlstmConfig(weights.config()).ffn_inner) {
    const int64_t D = weights.config().PositiveInt("hidden_size");
    up_ = RuntimeLinear::Load(weights, prefix + ".proj_up", D, 2 * inner_);
    down_ = RuntimeLinear::Load(weights, prefix + ".proj_down", inner_, D);
  }

  int64_t StateSize() const override { return 0; }
  int64_t ScratchSize() const override { return 2 * inner_; }

  void Step(const float* x, float*, float* scratch, float* y) const override {
    float* gate = scratch;
    const float* up = scratch + inner_;
    up_.Apply(x, scratch);
    for (int64_t i = 0; i < inner_; ++i) {
      const float gelu = 0.5f * gate[i] * (1 + std::erf(gate[i] * (std::numbers::sqrt2_v<float> / 2)));
      gate[i] = gelu * up[i];
    }
    down_.Apply(gate, y);
  }

 private:
  int64_t inner_;
  RuntimeLinear up_, down_;
};

}  // namespace

std::unique_ptr<RuntimeMixer> LoadRuntimeGatedGelu(WeightReader& weights, const std::string& prefix) {
  return std::make_unique<RuntimeGatedGelu>(weights, prefix);
}

}  // namespace lrnn
