// What this machine can do at most, measured on the spot, and how long something takes on it.
#pragma once

#include <functional>

namespace lrnn::bench {

// The median of several runs; `contended` when other processes used more than 5 % of the cores meanwhile.
struct Duration {
  double seconds = 0;
  bool contended = false;
};

// Runs `work` once to warm up, then for about half a second and at least five times.
Duration Measure(const std::function<void()>& work);

// All with the given number of threads.
double FmaPeak(int threads);        // single-precision multiply-adds, 2 flops each, a second
double ExpRate(int threads);        // single-precision exponentials a second
double ReadBandwidth(int threads);  // bytes a second, from memory

}  // namespace lrnn::bench
