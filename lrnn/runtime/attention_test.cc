#include "lrnn/runtime/attention.h"

#include <gtest/gtest.h>

#include <cmath>

#include "lrnn/runtime/expect_logits.h"
#include "lrnn/runtime/reference_logits.h"
#include "lrnn/runtime/test_attention.h"

namespace lrnn {
namespace {

// The mixer of one layer in double precision, written from the equations: 3 heads of 6.
class ReferenceAttention {
 public:
  ReferenceAttention(const TestModel& model, const std::string& prefix) : model_(model), prefix_(prefix) {}

  Row Step(const Row& x) {
    const auto position = static_cast<double>(keys_.size());
    const Row q = Turned(model_.Linear(prefix_ + ".q_proj", x), position);
    keys_.push_back(Turned(model_.Linear(prefix_ + ".k_proj", x), position));
    values_.push_back(model_.Linear(prefix_ + ".v_proj", x));
    Row o(18);
    for (int h = 0; h < 3; ++h) {
      Row weights(keys_.size());
      double sum = 0;
      for (size_t j = 0; j < keys_.size(); ++j) {
        double score = 0;
        for (int i = h * 6; i < h * 6 + 6; ++i) score += q[i] * keys_[j][i] / std::sqrt(6.0);
        sum += weights[j] = std::exp(score);
      }
      for (size_t j = 0; j < keys_.size(); ++j) {
        for (int i = h * 6; i < h * 6 + 6; ++i) o[i] += weights[j] / sum * values_[j][i];
      }
    }
    return model_.Linear(prefix_ + ".o_proj", o);
  }

 private:
  Row Turned(Row x, double position) const {
    const double theta = model_.config.value("rope_theta", 10000.0);
    for (int h = 0; h < 3; ++h) {
      for (int i = 0; i < 3; ++i) {
        const double angle = position * std::pow(theta, -2.0 * i / 6);
        const double a = x[h * 6 + i], b = x[h * 6 + i + 3];
        x[h * 6 + i] = a * std::cos(angle) - b * std::sin(angle);
        x[h * 6 + i + 3] = a * std::sin(angle) + b * std::cos(angle);
      }
    }
    return x;
  }

  const TestModel& model_;
  std::string prefix_;
  std::vector<Row> keys_, values_;
};

TEST(RuntimeAttention, EqualsTheEquations) {
  const std::vector<int32_t> tokens = RandomTokens(80, 11);
  for (double theta : {10000.0, 20.0}) {
    const TestModel model = TestAttention({{"rope_theta", theta}});
    ExpectLogits(model, tokens, FlaReferenceLogits<ReferenceAttention>(model, tokens));
  }
}

TEST(RuntimeAttention, StateGrowsByKeysAndValues) {
  TestDirectory directory;
  TestAttention().Write(directory.path());
  const auto session = RuntimeModel::Load(directory.path()).NewSession();
  EXPECT_EQ(session->StateBytes(), 2 * sizeof(float));
  for (int i = 0; i < 5; ++i) session->Step(i);
  EXPECT_EQ(session->StateBytes(), 2 * (1 + 5 * 2 * 18) * sizeof(float));
  session->Reset();
  EXPECT_EQ(session->StateBytes(), 2 * sizeof(float));
}

}  // namespace
}  // namespace lrnn
