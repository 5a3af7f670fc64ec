#include "lrnn/runtime/token_matrix.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "lrnn/base/error.h"
#include "lrnn/kernels/matrix_scan.h"
#include "lrnn/runtime/linear.h"

namespace lrnn {
namespace {

class RuntimeTokenMatrix : public RuntimeMixer {
 public:
  RuntimeTokenMatrix(WeightReader& weights, const std::string& prefix)
      : n_(weights.config().PositiveInt("matrix_size", 32)),
        vocab_size_(weights.config().PositiveInt("vocab_size")),
        A_(weights.Read(prefix + ".A", {vocab_size_, n_, n_})),
        o_proj_(
            RuntimeLinear::Load(weights, prefix + ".o_proj", n_ * n_, weights.config().PositiveInt("hidden_size"))) {}

  int64_t StateSize() const override { return n_ * n_; }
  int64_t ScratchSize() const override { return n_ * n_; }

  void InitState(float* state) const override {
    std::fill_n(state, n_ * n_, 0.0f);
    for (int64_t i = 0; i < n_; ++i) state[i * n_ + i] = 1;
  }

  void Step(const float*, float*, float*, float*) const override {
    Fail("[RuntimeTokenMatrix] expected a token, got only what was made of it");
  }

  void StepToken(int32_t token, const float* /*x*/, float* state, float* scratch, float* y) const override {
    const int64_t which = token;
    kernels::MatrixScan({1, kOneToken, n_, n_},
                        kernels::MatrixScanInputs<float>{
                            .A = A_.data(), .which = &which, .matrices = vocab_size_, .initial_state = state},
                        state, /*threads=*/1);
    double squares = 0;
    for (int64_t i = 0; i < n_ * n_; ++i) squares += double{state[i]} * state[i];
    const double scale = 1 / std::max(1.0, std::sqrt(squares));
    for (int64_t i = 0; i < n_ * n_; ++i) scratch[i] = static_cast<float>(scale * state[i]);
    o_proj_.Apply(scratch, y);
  }

 private:
  int64_t n_, vocab_size_;
  std::vector<float> A_;  // [vocabulary, n, n]
  RuntimeLinear o_proj_;  // [D, n n]
};

}  // namespace

std::unique_ptr<RuntimeMixer> LoadRuntimeTokenMatrix(WeightReader& weights, const std::string& prefix) {
  return std::make_unique<RuntimeTokenMatrix>(weights, prefix);
}

}  // namespace lrnn
