// Packed sequences to measure with.
#pragma once

#include <cstdint>
#include <vector>

#include "lrnn/base/rng.h"
#include "lrnn/ops/sequences.h"

namespace lrnn::bench {

inline ops::Sequences EqualSequences(int64_t count, int64_t length) {
  return ops::Sequences::FromLengths(std::vector<int64_t>(count, length));
}

// Lengths from `shortest` to `longest`, each as likely as the others.
inline ops::Sequences MixedSequences(int64_t count, int64_t shortest, int64_t longest) {
  Rng rng(1, 0);
  std::vector<int64_t> lengths(count);
  for (int64_t& length : lengths) length = shortest + rng.Below(longest - shortest + 1);
  return ops::Sequences::FromLengths(lengths);
}

}  // namespace lrnn::bench
