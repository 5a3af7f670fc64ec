#include "lrnn/tasks/batch.h"

#include <gtest/gtest.h>

#include <map>

#include "lrnn/base/error.h"
#include "lrnn/tasks/parity.h"
#include "lrnn/tasks/registry.h"

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

// Several targets a sequence, and sequences whose tokens are not length - 1.
TEST(MakeBatch, RowsAreAllSupervisedPositions) {
  for (const char* name : {"group", "stack_manipulation", "modular_arithmetic_brackets"}) {
    SCOPED_TRACE(name);
    const auto task = MakeTask(name);
    const Batch batch = MakeBatch(*task, {3, 20}, 7, 100, 50, 2);
    std::vector<int64_t> tokens, rows, targets;
    for (uint64_t i = 0; i < 50; ++i) {
      Rng rng(7, 100 + i);
      const int64_t length = task->DrawLength({3, 20}, rng);
      const Example example = ReadExample(*task, length, rng);
      EXPECT_EQ(batch.cu_seqlens[i], static_cast<int64_t>(tokens.size()));
      for (size_t at = 0; at < example.tokens.size(); ++at) {
        if (example.targets[at] != kNoTarget) {
          rows.push_back(static_cast<int64_t>(tokens.size()));
          targets.push_back(example.targets[at]);
        }
        tokens.push_back(example.tokens[at]);
      }
    }
    EXPECT_EQ(batch.tokens, tokens);
    EXPECT_EQ(batch.rows, rows);
    EXPECT_EQ(batch.targets, targets);
    EXPECT_EQ(batch.cu_seqlens.back(), static_cast<int64_t>(tokens.size()));
  }
}

}  // namespace
}  // namespace lrnn
