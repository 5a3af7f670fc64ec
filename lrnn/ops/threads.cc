#include "lrnn/ops/threads.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>

namespace lrnn::ops {

void UseThreads(int threads) {
  at::set_num_threads(threads);
  // OpenMP keeps its threads, and each has its own registers.
#pragma omp parallel num_threads(threads)
  at::globalContext().setFlushDenormal(true);
}

}  // namespace lrnn::ops
