// What every registered task must keep to.
#include "lrnn/tasks/registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lrnn/base/error.h"

namespace lrnn {
namespace {

struct Words {
  std::vector<int32_t> tokens, targets;
  bool operator==(const Words&) const = default;
};

// Reads an example in pieces of the given size.
Words ReadAll(const Task& task, int64_t length, uint64_t seed, uint64_t index, size_t piece) {
  Words words{std::vector<int32_t>(length - 1), std::vector<int32_t>(length - 1)};
  const auto stream = task.Open(length, Rng(seed, index));
  for (size_t at = 0; at < words.tokens.size(); at += piece) {
    const size_t count = std::min(piece, words.tokens.size() - at);
    stream->Read(std::span(words.tokens).subspan(at, count), std::span(words.targets).subspan(at, count));
  }
  return words;
}

TEST(Tasks, Contract) {
  for (const auto& task : Tasks()) {
    SCOPED_TRACE(task->name());
    EXPECT_EQ(&FindTask(task->name()), task.get());
    EXPECT_GT(task->chance(), 0);
    EXPECT_LT(task->chance(), 1);
    for (int64_t length : {task->min_length(), int64_t{3}, int64_t{40}, int64_t{257}}) {
      const Words whole = ReadAll(*task, length, 1, 5, 1000);
      EXPECT_EQ(ReadAll(*task, length, 1, 5, 1000), whole) << "same seed, same example";
      EXPECT_EQ(ReadAll(*task, length, 1, 5, 7), whole) << "pieces do not matter";
      for (int32_t token : whole.tokens)
        EXPECT_THAT(token, testing::AllOf(testing::Ge(0), testing::Lt(task->vocab_size())));
      for (int32_t target : whole.targets) {
        EXPECT_THAT(target, testing::AllOf(testing::Ge(kNoTarget), testing::Lt(task->vocab_size())));
      }
      EXPECT_NE(whole.targets.back(), kNoTarget);
    }
    EXPECT_NE(ReadAll(*task, 40, 1, 6, 1000), ReadAll(*task, 40, 1, 5, 1000));
    EXPECT_NE(ReadAll(*task, 40, 2, 5, 1000), ReadAll(*task, 40, 1, 5, 1000));
    EXPECT_THROW(ReadAll(*task, task->min_length() - 1, 1, 0, 1), Error);
    std::vector<int32_t> tokens(40), targets(40);
    EXPECT_THROW(task->Open(40, Rng(1, 1))->Read(tokens, targets), Error) << "39 tokens, not 40";
  }
}

TEST(Tasks, UnknownName) {
  EXPECT_THAT([] { FindTask("party"); },
              testing::ThrowsMessage<Error>(testing::HasSubstr("unknown task \"party\" (known: parity")));
}

}  // namespace
}  // namespace lrnn
