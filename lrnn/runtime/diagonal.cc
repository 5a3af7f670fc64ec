#include "lrnn/runtime/diagonal.h"

#include <cmath>

#include "lrnn/runtime/linear.h"

namespace lrnn {
namespace {

constexpr float kSharpness = 10;

class RuntimeDiagonal : public RuntimeMixer {
 public:
  RuntimeDiagonal(WeightReader& weights, const std::string& prefix)
      : allow_neg_eigval_(weights.config().Bool("allow_neg_eigval", false)) {
    const int64_t D = weights.config().PositiveInt("hidden_size");
    a_proj_ = RuntimeLinear::Load(weights, prefix + ".a_proj", D, D, /*has_bias=*/true);
    b_proj_ = RuntimeLinear::Load(weights, prefix + ".b_proj", D, D, /*has_bias=*/true);
  }

  int64_t StateSize() const override { return a_proj_.out; }
  int64_t ScratchSize() const override { return a_proj_.out; }

  void Step(const float* x, float* state, float* scratch, float* y) const override {
    a_proj_.Apply(x, scratch);
    b_proj_.Apply(x, y);
    for (int64_t i = 0; i < a_proj_.out; ++i) {
      const float z = kSharpness * scratch[i];
      const float a = allow_neg_eigval_ ? std::tanh(z) : 1 / (1 + std::exp(-z));
      state[i] = a * state[i] + y[i] * x[i];
      y[i] = state[i];
    }
  }

 private:
  bool allow_neg_eigval_;
  RuntimeLinear a_proj_, b_proj_;
};

}  // namespace

std::unique_ptr<RuntimeMixer> LoadRuntimeDiagonal(WeightReader& weights, const std::string& prefix) {
  return std::make_unique<RuntimeDiagonal>(weights, prefix);
}

}  // namespace lrnn
