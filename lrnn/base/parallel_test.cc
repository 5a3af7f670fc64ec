#include "lrnn/base/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

#include "lrnn/base/error.h"

namespace lrnn {
namespace {

TEST(ParallelFor, CallsEachIndexOnce) {
  for (int threads : {1, 2, 5}) {
    for (int64_t n : {0, 1, 3, 100}) {
      std::vector<int> calls(n);
      ParallelFor(n, threads, [&](int64_t i) { ++calls[i]; });
      EXPECT_EQ(calls, std::vector<int>(n, 1)) << threads << " threads, n = " << n;
    }
  }
}

TEST(ParallelFor, HandsOnAnException) {
  std::atomic<int> calls = 0;
  EXPECT_THROW(ParallelFor(10, 2,
                           [&](int64_t i) {
                             ++calls;
                             if (i == 4) Fail("[test] {}", i);
                           }),
               Error);
  EXPECT_EQ(calls, 10);
}

}  // namespace
}  // namespace lrnn
