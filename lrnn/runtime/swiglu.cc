#include "lrnn/runtime/swiglu.h"

#include "lrnn/io/skeleton.h"
#include "lrnn/runtime/linear.h"
#include "lrnn/runtime/silu.h"

namespace lrnn {
namespace {

class RuntimeSwiGlu : public RuntimeMixer {
 public:
  RuntimeSwiGlu(WeightReader& weights, const std::string& prefix) {
    const Fields& config = weights.config();
    const std::string activation = config.String("hidden_act", "swish");
    if (activation != "swish" && activation != "silu") config.Refuse("hidden_act", "\"swish\" or \"silu\"");
    const int64_t D = config.PositiveInt("hidden_size");
    inner_ = config.PositiveInt("intermediate_size", DefaultIntermediateSize(D, config.PositiveInt("hidden_ratio", 4)));
    gate_up_ = RuntimeLinear::Stack({RuntimeLinear::Load(weights, prefix + ".gate_proj", D, inner_),
                                     RuntimeLinear::Load(weights, prefix + ".up_proj", D, inner_)});
    down_ = RuntimeLinear::Load(weights, prefix + ".down_proj", inner_, D);
  }

  int64_t StateSize() const override { return 0; }
  int64_t ScratchSize() const override { return 2 * inner_; }

  void Step(const float* x, float*, float* scratch, float* y) const override {
    float* gate = scratch;
    const float* up = scratch + inner_;
    gate_up_.Apply(x, scratch);
    for (int64_t i = 0; i < inner_; ++i) gate[i] = Silu(gate[i]) * up[i];
    down_.Apply(gate, y);
  }

 private:
  int64_t inner_;
  RuntimeLinear gate_up_, down_;
};

}  // namespace

std::unique_ptr<RuntimeMixer> LoadRuntimeSwiGlu(WeightReader& weights, const std::string& prefix) {
  return std::make_unique<RuntimeSwiGlu>(weights, prefix);
}

}  // namespace lrnn
