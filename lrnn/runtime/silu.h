// silu(x) = x / (1 + exp(-x)).
#pragma once

#include <cmath>

namespace lrnn {

inline float Silu(float x) { return x / (1.0f + std::exp(-x)); }

}  // namespace lrnn
