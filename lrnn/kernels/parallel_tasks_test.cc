#include "lrnn/kernels/parallel_tasks.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace lrnn::kernels {
namespace {

TEST(ParallelTasks, SubnormalsAreZeroInEveryTaskOfAnyNumberOfThreads) {
  for (const int threads : {1, 2, 3}) {
    std::vector<float> halves(100, -1);
    ParallelTasks(100, threads, [&](int64_t i) {
      volatile float number = std::numeric_limits<float>::min();
      halves[i] = number * 0.5f;
    });
    for (const float half : halves) EXPECT_EQ(half == 0, FlushSubnormals::kHasEffect) << threads;
    volatile float number = std::numeric_limits<float>::min();
    EXPECT_GT(number * 0.5f, 0) << threads;
  }
}

}  // namespace
}  // namespace lrnn::kernels
