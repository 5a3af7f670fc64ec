#include "lrnn/runtime/lstm.h"

#include <gtest/gtest.h>

#include <cmath>

#include "lrnn/runtime/expect_logits.h"
#include "lrnn/runtime/reference_logits.h"
#include "lrnn/runtime/test_gated_rnn.h"

namespace lrnn {
namespace {

class ReferenceLstm {
 public:
  ReferenceLstm(const TestModel& model, const std::string& prefix) : model_(model), prefix_(prefix) {}

  Row Step(const Row& x) {
    Row next(kD);
    for (int64_t u = 0; u < kD; ++u) {
      c_[u] = Sigmoid(Gate(1, u, x)) * c_[u] + Sigmoid(Gate(0, u, x)) * std::tanh(Gate(2, u, x));
      next[u] = Sigmoid(Gate(3, u, x)) * std::tanh(c_[u]);
    }
    return h_ = next;
  }

 private:
  static constexpr int64_t kD = 9;

  double Gate(int64_t gate, int64_t unit, const Row& x) const {
    const int64_t row = gate * kD + unit;
    double sum = double{model_[prefix_ + ".bias_ih_l0"][row]} + model_[prefix_ + ".bias_hh_l0"][row];
    for (int64_t i = 0; i < kD; ++i) {
      sum += model_[prefix_ + ".weight_ih_l0"][row * kD + i] * x[i];
      sum += model_[prefix_ + ".weight_hh_l0"][row * kD + i] * h_[i];
    }
    return sum;
  }

  const TestModel& model_;
  std::string prefix_;
  Row h_ = Row(kD), c_ = Row(kD);
};

TEST(RuntimeLstm, EqualsTheEquations) {
  const std::vector<int32_t> tokens = RandomTokens(50, 7);
  for (bool changed : {false, true}) {
    const TestModel model = TestLstm({{"tie_word_embeddings", changed}, {"use_final_norm", !changed}});
    ExpectLogits(model, tokens, MambaReferenceLogits<ReferenceLstm>(model, tokens));
  }
}

TEST(RuntimeLstm, StateSize) {
  TestDirectory directory;
  TestLstm().Write(directory.path());
  EXPECT_EQ(RuntimeModel::Load(directory.path()).NewSession()->StateBytes(), 2 * 2 * 9 * sizeof(float));
}

}  // namespace
}  // namespace lrnn
