#include "lrnn/compile/decomposition.h"

#include <gtest/gtest.h>

#include "lrnn/compile/theory_vectors.h"

namespace lrnn {
namespace {

TEST(Decompose, TheoryVectors) {
  const std::vector<TheoryVector> vectors = TheoryVectors();
  EXPECT_EQ(vectors.size(), 59);
  for (const TheoryVector& v : vectors) {
    SCOPED_TRACE(v.name + ", " + v.mode);
    const auto chains = MakeChainSystem(v.dfa, v.chains, 20000);
    const std::optional<Cascade> cascade = Decompose(v.dfa, *chains, 300000);
    ASSERT_TRUE(cascade.has_value());
    std::vector<int> sizes;
    std::vector<bool> delay;
    for (const CascadeTables& level : cascade->levels) {
      sizes.push_back(level.labels);
      delay.push_back(level.NeedsDelay());
    }
    EXPECT_EQ(sizes, v.sizes);
    EXPECT_EQ(delay, v.delay);
    for (size_t i = 0; i < v.words.size(); ++i) {
      for (size_t t = 0; t < v.words[i].size(); ++t) {
        ASSERT_EQ(cascade->Run(std::span(v.words[i]).first(t + 1)), v.states[i][t]);
      }
    }
  }
}

}  // namespace
}  // namespace lrnn
