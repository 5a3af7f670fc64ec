// For tests: the runtime against logits that were computed otherwise.
#pragma once

#include <gtest/gtest.h>

#include <span>
#include <vector>

#include "lrnn/io/test_directory.h"
#include "lrnn/runtime/model.h"
#include "lrnn/runtime/test_model.h"

namespace lrnn {

inline std::vector<int32_t> RandomTokens(int64_t count, uint32_t vocab_size) {
  Rng rng(23, 0);
  std::vector<int32_t> tokens(count);
  for (int32_t& token : tokens) token = static_cast<int32_t>(rng.Below(vocab_size));
  return tokens;
}

// Writes the model, loads it and steps through the tokens; expected: [T][vocab_size]. The tolerance is what a change of
// the weights in their last bit can do: norms of small vectors amplify it.
inline void ExpectLogits(const TestModel& model, const std::vector<int32_t>& tokens, const std::vector<Row>& expected) {
  TestDirectory directory;
  model.Write(directory.path());
  const auto session = RuntimeModel::Load(directory.path()).NewSession();
  for (size_t t = 0; t < tokens.size(); ++t) {
    const std::span<const float> logits = session->Step(tokens[t]);
    ASSERT_EQ(logits.size(), expected[t].size());
    for (size_t i = 0; i < logits.size(); ++i) {
      ASSERT_NEAR(logits[i], expected[t][i], 2e-4 * (1 + std::abs(expected[t][i]))) << "token " << t << ", logit " << i;
    }
  }
}

}  // namespace lrnn
