#include "lrnn/runtime/lstm.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "lrnn/kernels/matvec.h"

namespace lrnn {
namespace {

double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

class RuntimeLstm : public RuntimeMixer {
 public:
  RuntimeLstm(WeightReader& weights, const std::string& prefix)
      : width_(weights.config().PositiveInt("hidden_size")), weight_(8 * width_ * width_) {
    const int64_t D = width_;
    const std::vector<float> of_x = weights.Read(prefix + ".weight_ih_l0", {4 * D, D}),
                             of_h = weights.Read(prefix + ".weight_hh_l0", {4 * D, D});
    for (int64_t row = 0; row < 4 * D; ++row) {
      std::copy_n(&of_x[row * D], D, &weight_[row * 2 * D]);
      std::copy_n(&of_h[row * D], D, &weight_[row * 2 * D + D]);
    }
    bias_ = weights.Read(prefix + ".bias_ih_l0", {4 * D});
    const std::vector<float> bias_of_h = weights.Read(prefix + ".bias_hh_l0", {4 * D});
    for (int64_t i = 0; i < 4 * D; ++i) bias_[i] += bias_of_h[i];
  }

  int64_t StateSize() const override { return 2 * width_; }
  int64_t ScratchSize() const override { return 6 * width_; }

  void Step(const float* x, float* state, float* scratch, float* y) const override {
    const int64_t D = width_;
    float* both = scratch;                 // x and h
    const float* gates = scratch + 2 * D;  // [4, D]
    float* c = state + D;
    std::copy_n(x, D, both);
    std::copy_n(state, D, both + D);
    kernels::MatVec(weight_.data(), both, bias_.data(), 4 * D, 2 * D, scratch + 2 * D, /*threads=*/1);
    for (int64_t u = 0; u < D; ++u) {
      const double next = Sigmoid(gates[D + u]) * c[u] + Sigmoid(gates[u]) * std::tanh(double{gates[2 * D + u]});
      c[u] = static_cast<float>(next);
      y[u] = state[u] = static_cast<float>(Sigmoid(gates[3 * D + u]) * std::tanh(next));
    }
  }

 private:
  int64_t width_;              // D
  std::vector<float> weight_;  // [4 D, 2 D]: of x, then of h
  std::vector<float> bias_;    // [4 D]
};

}  // namespace

std::unique_ptr<RuntimeMixer> LoadRuntimeLstm(WeightReader& weights, const std::string& prefix) {
  return std::make_unique<RuntimeLstm>(weights, prefix);
}

}  // namespace lrnn
