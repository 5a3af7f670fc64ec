// bfloat16 arithmetic as a machine without wider registers would do it: every operation rounds its result to 8
// significant bits (nearest, ties to even).
#pragma once

#include <bit>
#include <cstdint>

namespace lrnn {

class Bf16 {
 public:
  Bf16() = default;
  explicit Bf16(float value) : value_(Round(value)) {}
  explicit operator float() const { return value_; }

  friend Bf16 operator+(Bf16 a, Bf16 b) { return Bf16(a.value_ + b.value_); }
  friend Bf16 operator-(Bf16 a, Bf16 b) { return Bf16(a.value_ - b.value_); }
  friend Bf16 operator*(Bf16 a, Bf16 b) { return Bf16(a.value_ * b.value_); }

 private:
  static float Round(float value) {
    if (value != value) return value;
    const uint32_t bits = std::bit_cast<uint32_t>(value);
    return std::bit_cast<float>((bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000);
  }

  float value_ = 0.0f;
};

}  // namespace lrnn
