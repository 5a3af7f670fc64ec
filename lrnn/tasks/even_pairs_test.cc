#include "lrnn/tasks/even_pairs.h"

#include <gtest/gtest.h>

#include "lrnn/tasks/registry.h"

namespace lrnn {
namespace {

TEST(EvenPairs, LabelsCountUnequalNeighbours) {
  const auto task = MakeTask("even_pairs");
  int odd = 0;
  for (uint64_t i = 0; i < 1000; ++i) {
    const int64_t length = 2 + static_cast<int64_t>(i % 30);
    const auto [tokens, targets] = ReadExample(*task, length, Rng(1, i));
    int unequal = 0;
    for (size_t t = 1; t < tokens.size(); ++t) unequal += tokens[t] != tokens[t - 1];
    for (int32_t token : tokens) EXPECT_TRUE(token == 1 || token == 2);
    EXPECT_EQ(targets.back(), 1 + unequal % 2);
    EXPECT_EQ(std::count(targets.begin(), targets.end(), kNoTarget), length - 2);
    odd += unequal % 2;
  }
  EXPECT_NEAR(odd, 500, 60);
}

}  // namespace
}  // namespace lrnn
