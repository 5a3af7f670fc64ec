#include "lrnn/tasks/cycle_navigation.h"

#include <gtest/gtest.h>

#include <array>

#include "lrnn/tasks/registry.h"

namespace lrnn {
namespace {

TEST(CycleNavigation, LabelsAreTheSumOfTheSteps) {
  for (int cycle : {5, 6}) {
    const auto task = MakeTask("cycle_navigation", {{"cycle", cycle}});
    EXPECT_EQ(task->vocab_size(), cycle + 4);
    EXPECT_DOUBLE_EQ(task->chance(), 1.0 / cycle);
    std::array<int, 3> steps{};
    for (uint64_t i = 0; i < 1000; ++i) {
      const auto [tokens, targets] = ReadExample(*task, 2 + static_cast<int64_t>(i % 30), Rng(1, i));
      int sum = 0;
      for (int32_t token : tokens) {
        ASSERT_TRUE(token >= 1 && token <= 3);
        ++steps[token - 1];
        sum += token == 2 ? 1 : token == 3 ? -1 : 0;
      }
      EXPECT_EQ(targets.back(), 4 + ((sum % cycle) + cycle) % cycle);
    }
    for (int count : steps) EXPECT_NEAR(count, (steps[0] + steps[1] + steps[2]) / 3.0, 300);
  }
}

}  // namespace
}  // namespace lrnn
