// A model's answer: the token with the largest logit, the first of several.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

namespace lrnn {

inline int32_t LargestLogit(std::span<const float> logits) {
  return static_cast<int32_t>(std::max_element(logits.begin(), logits.end()) - logits.begin());
}

}  // namespace lrnn
