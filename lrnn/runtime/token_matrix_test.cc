#include "lrnn/runtime/token_matrix.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "lrnn/runtime/expect_logits.h"
#include "lrnn/runtime/test_token_matrix.h"

namespace lrnn {
namespace {

// The last layer alone makes the logits: a layer before it changes x, which is not used.
std::vector<Row> Equations(const TestModel& model, const std::vector<int32_t>& tokens) {
  const std::string mixer = "model.layers.1.mixer.";
  Row H(16);
  for (int i = 0; i < 4; ++i) H[i * 4 + i] = 1;
  std::vector<Row> logits;
  for (int32_t token : tokens) {
    Row next(16);
    for (int i = 0; i < 4; ++i) {
      for (int j = 0; j < 4; ++j) {
        for (int k = 0; k < 4; ++k) next[i * 4 + j] += model[mixer + "A"][token * 16 + i * 4 + k] * H[k * 4 + j];
      }
    }
    H = next;
    double squares = 0;
    for (double value : H) squares += value * value;
    Row flat = H;
    for (double& value : flat) value /= std::max(1.0, std::sqrt(squares));
    const Row y = model.Linear("model.layers.1.mixer.o_proj", flat);
    logits.push_back(model.Linear("lm_head", model.Norm("model.norm", y, model.config["norm_eps"])));
  }
  return logits;
}

TEST(RuntimeTokenMatrix, EqualsTheEquations) {
  const std::vector<int32_t> tokens = RandomTokens(40, 7);
  const TestModel model = TestTokenMatrix();
  ExpectLogits(model, tokens, Equations(model, tokens));
}

TEST(RuntimeTokenMatrix, StateSizeIsThatOfH) {
  TestDirectory directory;
  TestTokenMatrix().Write(directory.path());
  EXPECT_EQ(RuntimeModel::Load(directory.path()).NewSession()->StateBytes(), 2 * 16 * sizeof(float));
}

}  // namespace
}  // namespace lrnn
