#include "lrnn/tasks/batch.h"

#include <gtest/gtest.h>

#include <map>

#include "lrnn/base/error.h"
#include "lrnn/tasks/parity.h"

namespace lrnn {
namespace {

bool Same(const Batch& a, const Batch& b) {
  return a.tokens == b.tokens && a.cu_seqlens == b.cu_seqlens && a.rows == b.rows && a.targets == b.targets;
}

TEST(MakeBatch, SameForAnyThreadCount) {
  const Parity parity;
  EXPECT_TRUE(Same(MakeBatch(parity, {3, 40}, 7, 0, 300, 1), MakeBatch(parity, {3, 40}, 7, 0, 300, 4)));
  EXPECT_FALSE(Same(MakeBatch(parity, {3, 40}, 7, 0, 300, 1), MakeBatch(parity, {3, 40}, 8, 0, 300, 1)));
}

TEST(MakeBatch, AnExampleDoesNotDependOnItsBatch) {
  const Parity parity;
  const Batch whole = MakeBatch(parity, {3, 40}, 7, 0, 20, 1);
  const Batch later = MakeBatch(parity, {3, 40}, 7, 15, 5, 1);
  const std::vector<int64_t> tail(whole.tokens.begin() + whole.cu_seqlens[15], whole.tokens.end());
  EXPECT_EQ(later.tokens, tail);
}

TEST(MakeBatch, LengthsAreUniformAndRowsAreTheLastTokens) {
  const Parity parity;
  const Batch batch = MakeBatch(parity, {3, 12}, 1, 0, 20000, 2);
  std::map<int64_t, int> counts;
  ASSERT_EQ(batch.rows.size(), 20000u);
  for (size_t i = 0; i < batch.rows.size(); ++i) {
    EXPECT_EQ(batch.rows[i], batch.cu_seqlens[i + 1] - 1);
    ++counts[batch.cu_seqlens[i + 1] - batch.cu_seqlens[i] + 1];
  }
  EXPECT_EQ(counts.size(), 10u);
  for (const auto& [length, count] : counts) EXPECT_NEAR(count, 2000, 200) << "length " << length;
}

TEST(MakeBatch, RefusesImpossibleLengths) {
  EXPECT_THROW(MakeBatch(Parity(), {1, 4}, 1, 0, 1, 1), Error);
  EXPECT_THROW(MakeBatch(Parity(), {5, 4}, 1, 0, 1, 1), Error);
}

}  // namespace
}  // namespace lrnn
