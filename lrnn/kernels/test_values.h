// For tests: random values, and outputs that show what was not written.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "lrnn/base/rng.h"

namespace lrnn::kernels {

template <typename T>
std::vector<T> Normals(int64_t n, uint64_t stream) {
  Rng rng(3, stream);
  std::vector<T> values(n);
  for (T& value : values) value = static_cast<T>(rng.Normal());
  return values;
}

template <typename T>
std::vector<T> Poison(int64_t n) {
  return std::vector<T>(n, std::numeric_limits<T>::quiet_NaN());
}

}  // namespace lrnn::kernels
