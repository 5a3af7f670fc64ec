// The learning rate over a run: linear warm-up, then a cosine down to a small share of it.
//
//   t <  W:   lr t / W                                               the first update has rate 0
//   t >= W:   lr (r + (1 - r) (1 + cos(pi (t - W) / (T - W))) / 2)   r = min_ratio
//
// t counts from 0, T = steps, W = warmup_steps.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

namespace lrnn {

inline double LearningRate(int64_t t, int64_t steps, int64_t warmup_steps, double learning_rate, double min_ratio) {
  if (t < warmup_steps) return learning_rate * static_cast<double>(t) / static_cast<double>(warmup_steps);
  const double share =
      static_cast<double>(t - warmup_steps) / static_cast<double>(std::max<int64_t>(1, steps - warmup_steps));
  return learning_rate * (min_ratio + (1 - min_ratio) * 0.5 * (1 + std::cos(std::numbers::pi * share)));
}

}  // namespace lrnn
