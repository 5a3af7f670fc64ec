#include "lrnn/base/hardware.h"

#include <gtest/gtest.h>
#include <sched.h>

namespace lrnn {
namespace {

TEST(Hardware, HasAName) { EXPECT_FALSE(CpuName().empty()); }

TEST(Hardware, CountsTheProcessorsThisProcessMayUse) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof(before), &before), 0);
  EXPECT_EQ(CpuCount(), CPU_COUNT(&before));
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
  EXPECT_EQ(CpuCount(), 1);
  ASSERT_EQ(sched_setaffinity(0, sizeof(before), &before), 0);
}

}  // namespace
}  // namespace lrnn
