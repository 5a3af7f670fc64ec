// Exact arithmetic with dyadic numbers m 2^e, as long as m fits into 62 bits.
#pragma once

#include <cstdint>
#include <string>

namespace lrnn {

class Dyadic {
 public:
  Dyadic() = default;
  explicit Dyadic(double value);  // finite; exact

  bool IsZero() const { return m_ == 0; }
  // 2^quantum() is the largest power of two that divides it; of 0 it is the largest int.
  int quantum() const { return m_ == 0 ? INT32_MAX : e_; }
  double ToDouble() const;

  // Throw Error when the result needs more than 62 bits.
  friend Dyadic operator+(const Dyadic& a, const Dyadic& b);
  friend Dyadic operator-(const Dyadic& a, const Dyadic& b) { return a + (-b); }
  friend Dyadic operator*(const Dyadic& a, const Dyadic& b);
  Dyadic operator-() const { return Dyadic(-m_, e_); }
  Dyadic Abs() const { return Dyadic(m_ < 0 ? -m_ : m_, e_); }

  friend bool operator==(const Dyadic& a, const Dyadic& b) = default;
  friend bool operator<(const Dyadic& a, const Dyadic& b) { return (a - b).m_ < 0; }

 private:
  Dyadic(__int128 m, int e);  // normalises

  int64_t m_ = 0;  // odd, or 0
  int e_ = 0;      // 0 for 0
};

}  // namespace lrnn
