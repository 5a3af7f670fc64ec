// A stopwatch.
#pragma once

#include <chrono>

namespace lrnn {

class Timer {
 public:
  double Seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
  void Reset() { start_ = Clock::now(); }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
};

}  // namespace lrnn
