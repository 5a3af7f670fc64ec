#include "lrnn/tasks/missing_duplicate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "lrnn/tasks/registry.h"

namespace lrnn {
namespace {

TEST(MissingDuplicate, TheAnswerMakesBothHalvesEqual) {
  const auto task = MakeTask("missing_duplicate");
  EXPECT_EQ(task->symbols(), (std::vector<std::string>{"0", "1", "?", "<pad>", "<out>"}));
  std::set<int64_t> places;
  for (uint64_t i = 0; i < 1000; ++i) {
    const int64_t length = 2 + static_cast<int64_t>(i % 20), half = length / 2;
    auto [tokens, targets] = ReadExample(*task, length, Rng(1, i));
    ASSERT_EQ(static_cast<int64_t>(tokens.size()), length + 1);
    EXPECT_EQ(tokens.back(), 4);
    if (length % 2 == 1) {
      EXPECT_EQ(tokens[length - 1], 3);
    }
    EXPECT_EQ(std::count(tokens.begin(), tokens.end(), 2), 1);
    const auto missing = std::find(tokens.begin(), tokens.end(), 2);
    if (length == 8) places.insert(missing - tokens.begin());
    *missing = targets.back();
    EXPECT_TRUE(std::equal(tokens.begin(), tokens.begin() + half, tokens.begin() + half));
    EXPECT_EQ(std::count(targets.begin(), targets.end(), kNoTarget), length);
  }
  EXPECT_EQ(places.size(), 8u) << "in both copies";
}

}  // namespace
}  // namespace lrnn
