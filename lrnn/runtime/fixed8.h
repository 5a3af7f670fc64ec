// 8-bit fixed point: multiples of 1/16 from -8 to 7.9375. Every operation rounds to the nearest (ties to even) and
// stops at the ends of the range.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace lrnn {

class Fixed8 {
 public:
  Fixed8() = default;
  explicit Fixed8(float value)
      : sixteenths_(static_cast<int8_t>(std::clamp(std::nearbyint(16.0f * value), -128.0f, 127.0f))) {}
  explicit operator float() const { return static_cast<float>(sixteenths_) / 16.0f; }

  // Sums and products of two of them are exact in float.
  friend Fixed8 operator+(Fixed8 a, Fixed8 b) { return Fixed8(static_cast<float>(a) + static_cast<float>(b)); }
  friend Fixed8 operator-(Fixed8 a, Fixed8 b) { return Fixed8(static_cast<float>(a) - static_cast<float>(b)); }
  friend Fixed8 operator*(Fixed8 a, Fixed8 b) { return Fixed8(static_cast<float>(a) * static_cast<float>(b)); }

 private:
  int8_t sixteenths_ = 0;
};

}  // namespace lrnn
