#include "lrnn/runtime/full_matrix.h"

#include <cmath>

#include "lrnn/kernels/matvec.h"
#include "lrnn/runtime/linear.h"

namespace lrnn {
namespace {

class RuntimeFullMatrix : public RuntimeMixer {
 public:
  RuntimeFullMatrix(WeightReader& weights, const std::string& prefix)
      : D_(weights.config().PositiveInt("hidden_size")),
        a_proj_(RuntimeLinear::Load(weights, prefix + ".a_proj", D_, D_ * D_, /*has_bias=*/true)),
        b_proj_(RuntimeLinear::Load(weights, prefix + ".b_proj", D_, D_ * D_, /*has_bias=*/true)) {}

  int64_t StateSize() const override { return D_; }
  int64_t ScratchSize() const override { return D_ * D_ + D_; }

  void Step(const float* x, float* state, float* scratch, float* y) const override {
    float* const Ah = scratch + D_ * D_;
    a_proj_.Apply(x, scratch);
    kernels::MatVec(scratch, state, nullptr, D_, D_, Ah, /*threads=*/1);
    b_proj_.Apply(x, scratch);
    kernels::MatVec(scratch, x, Ah, D_, D_, y, /*threads=*/1);
    const float scale = 1 / std::sqrt(static_cast<float>(D_));
    for (int64_t i = 0; i < D_; ++i) y[i] = state[i] = scale * y[i];
  }

 private:
  int64_t D_;
  RuntimeLinear a_proj_, b_proj_;  // [D D, D]
};

}  // namespace

std::unique_ptr<RuntimeMixer> LoadRuntimeFullMatrix(WeightReader& weights, const std::string& prefix) {
  return std::make_unique<RuntimeFullMatrix>(weights, prefix);
}

}  // namespace lrnn
