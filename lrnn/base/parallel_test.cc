#include "lrnn/base/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
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

TEST(ParallelFor, ThreadsTakeOverWhatOthersHaveNotStarted) {
  constexpr int64_t kCount = 8;
  std::atomic<int64_t> done = 0;
  ParallelFor(kCount, 2, [&](int64_t i) {
    // The first index of the first thread lasts until all others are done, those after it by the second thread.
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (i == 0 && done < kCount - 1 && std::chrono::steady_clock::now() < end) std::this_thread::yield();
    if (i == 0) {
      EXPECT_EQ(done, kCount - 1);
    }
    ++done;
  });
  EXPECT_EQ(done, kCount);
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
