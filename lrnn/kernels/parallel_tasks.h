// The tasks of a kernel on several threads, with subnormal numbers as 0.
#pragma once

#include <cstdint>

#include "lrnn/base/flush_subnormals.h"
#include "lrnn/base/parallel.h"

namespace lrnn::kernels {

// Calls task(i) for i = 0 .. n-1, as ParallelFor does.
template <typename Task>
void ParallelTasks(int64_t n, int threads, const Task& task) {
  ParallelFor(n, threads, [&](int64_t i) {
    const FlushSubnormals flush;
    task(i);
  });
}

}  // namespace lrnn::kernels
