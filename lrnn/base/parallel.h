// A parallel loop over OpenMP, the thread pool that libtorch and OpenBLAS use too, so pools never fight.
//
// The body must not depend on the order of its calls; what it computes for index i is then the same for any thread
// count.
#pragma once

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <vector>

namespace lrnn {

// The indices of one thread that nobody has taken yet, on a cache line of their own.
struct alignas(128) IndexShare {
  std::atomic<int64_t> next;
  int64_t end;
};

// Calls body(i) for i = 0 .. n-1 on up to `threads` threads. The first exception a body throws is thrown to the caller.
//
// Thread t starts with the t-th part of the indices, in every loop, so that what a loop leaves in its core's cache is
// what the next one reads or writes there; a thread that has done its own takes what is left of the others'.
template <typename Body>
void ParallelFor(int64_t n, int threads, const Body& body) {
  if (threads <= 1 || n <= 1) {
    for (int64_t i = 0; i < n; ++i) body(i);
    return;
  }
  const int parts = static_cast<int>(std::min<int64_t>(threads, n));
  std::vector<IndexShare> shares(parts);
  for (int t = 0; t < parts; ++t) shares[t].next = n * t / parts, shares[t].end = n * (t + 1) / parts;
  std::exception_ptr failure;
#pragma omp parallel num_threads(parts)
  for (int part = 0; part < parts; ++part) {
    IndexShare& share = shares[(omp_get_thread_num() + part) % parts];
    for (int64_t i; (i = share.next.fetch_add(1, std::memory_order_relaxed)) < share.end;) {
      try {
        body(i);
      } catch (...) {
#pragma omp critical(lrnn_parallel_for)
        if (!failure) failure = std::current_exception();
      }
    }
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace lrnn
