#include "lrnn/theory/cycle.h"

#include <gtest/gtest.h>

namespace lrnn {
namespace {

TEST(FindCycle, EveryShape) {
  for (int64_t before = 0; before < 20; ++before) {
    for (int64_t period = 1; period < 20; ++period) {
      const auto step = [&](int64_t& state) { state = state + 1 == before + period ? before : state + 1; };
      const std::optional<Cycle> cycle = FindCycle(int64_t{0}, step, 1000);
      ASSERT_TRUE(cycle.has_value());
      EXPECT_EQ(cycle->before, before);
      EXPECT_EQ(cycle->period, period);
    }
  }
}

TEST(FindCycle, GivesUp) {
  EXPECT_FALSE(FindCycle(
                   int64_t{0}, [](int64_t& state) { ++state; }, 1000)
                   .has_value());
  EXPECT_FALSE(FindCycle(
                   int64_t{0}, [](int64_t& state) { state = (state + 1) % 100; }, 50)
                   .has_value());
}

TEST(SmallestPeriod, DividesTheCycle) {
  EXPECT_EQ(SmallestPeriod<int>({7}), 1);
  EXPECT_EQ(SmallestPeriod<int>({7, 7, 7, 7}), 1);
  EXPECT_EQ(SmallestPeriod<int>({1, 2, 1, 2, 1, 2}), 2);
  EXPECT_EQ(SmallestPeriod<int>({1, 2, 1, 2, 1}), 5);
  EXPECT_EQ(SmallestPeriod<int>({1, 2, 3}), 3);
}

}  // namespace
}  // namespace lrnn
