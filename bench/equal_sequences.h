// Sequences of one length, packed.
#pragma once

#include <cstdint>
#include <vector>

#include "lrnn/ops/sequences.h"

namespace lrnn::bench {

inline ops::Sequences EqualSequences(int64_t count, int64_t length) {
  std::vector<int32_t> starts;
  for (int64_t i = 0; i <= count; ++i) starts.push_back(static_cast<int32_t>(i * length));
  return ops::Sequences(starts);
}

}  // namespace lrnn::bench
