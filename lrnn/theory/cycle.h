// Where a deterministic machine of finite precision ends: in a cycle.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace lrnn {

struct Cycle {
  int64_t before = 0;  // steps before the first state that comes again
  int64_t period = 0;
};

// Brent's algorithm: two states in memory, about three times before + period steps. step(state) changes a state in
// place. Nothing when there is no cycle within max_steps.
template <typename State, typename Step>
std::optional<Cycle> FindCycle(const State& start, const Step& step, int64_t max_steps) {
  State slow = start, fast = start;
  step(fast);
  int64_t steps = 1, power = 1, period = 1;
  for (; !(slow == fast); ++period, ++steps) {
    if (steps >= max_steps) return std::nullopt;
    if (power == period) {
      slow = fast;
      power *= 2;
      period = 0;
    }
    step(fast);
  }
  // Two walkers, one period apart, meet where the cycle begins.
  slow = fast = start;
  for (int64_t i = 0; i < period; ++i) step(fast);
  Cycle cycle{0, period};
  for (; !(slow == fast); ++cycle.before) {
    step(slow);
    step(fast);
  }
  return cycle;
}

// The smallest p that divides their number with values[i] = values[i + p], going round.
template <typename Value>
int64_t SmallestPeriod(const std::vector<Value>& values) {
  const size_t count = values.size();
  for (size_t period = 1; period < count; ++period) {
    if (count % period == 0 && std::equal(values.begin() + period, values.end(), values.begin())) {
      return static_cast<int64_t>(period);
    }
  }
  return static_cast<int64_t>(count);
}

}  // namespace lrnn
