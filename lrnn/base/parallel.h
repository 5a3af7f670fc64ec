// A parallel loop over OpenMP, the thread pool that libtorch and OpenBLAS use too, so pools never fight.
//
// The body must not depend on the order of its calls; what it computes for index i is then the same for any thread
// count.
#pragma once

#include <cstdint>
#include <exception>

namespace lrnn {

// Calls body(i) for i = 0 .. n-1 on up to `threads` threads. The first exception a body throws is thrown to the caller.
template <typename Body>
void ParallelFor(int64_t n, int threads, const Body& body) {
  if (threads <= 1 || n <= 1) {
    for (int64_t i = 0; i < n; ++i) body(i);
    return;
  }
  std::exception_ptr failure;
#pragma omp parallel for schedule(dynamic) num_threads(threads)
  for (int64_t i = 0; i < n; ++i) {
    try {
      body(i);
    } catch (...) {
#pragma omp critical(lrnn_parallel_for)
      if (!failure) failure = std::current_exception();
    }
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace lrnn
