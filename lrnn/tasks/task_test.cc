#include "lrnn/tasks/task.h"

#include <gtest/gtest.h>

#include "lrnn/base/message_of.h"
#include "lrnn/tasks/parity.h"
#include "lrnn/tasks/registry.h"

namespace lrnn {
namespace {

TEST(Task, ChecksRangesOfLengths) {
  const Parity parity;
  EXPECT_NO_THROW(CheckLengths(parity, {2, 2}));
  EXPECT_EQ(MessageOf([&] { CheckLengths(parity, {1, 4}); }), "expected lengths from 2 on for task parity, got 1:4");
  EXPECT_EQ(MessageOf([&] { CheckLengths(parity, {5, 4}); }), "expected lengths from 2 on for task parity, got 5:4");
  EXPECT_EQ(MessageOf([&] {
              CheckLengths(*MakeTask("compute_sqrt"), {5, 16385});
            }),
            "expected lengths from 1 to 16384 for task compute_sqrt, got 5:16385");
}

TEST(ExampleStream, WantsRoomForTargets) {
  std::vector<int32_t> tokens(3), targets(2);
  EXPECT_EQ(MessageOf([&] { Parity().Open(8, Rng(0, 0))->Read(tokens, targets); }),
            "[ExampleStream::Read] expected as many targets as the 3 tokens, got 2");
}

}  // namespace
}  // namespace lrnn
