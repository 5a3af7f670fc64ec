#include "lrnn/compile/dyadic.h"

#include <algorithm>
#include <cmath>

#include "lrnn/base/error.h"

namespace lrnn {

Dyadic::Dyadic(__int128 m, int e) {
  if (m == 0) return;
  while ((m & 1) == 0) m >>= 1, ++e;
  constexpr __int128 kLimit = __int128{1} << 62;
  LRNN_CHECK(m < kLimit && m > -kLimit, "the weights are rounded: exact numbers need more than 62 bits");
  m_ = static_cast<int64_t>(m);
  e_ = e;
}

Dyadic::Dyadic(double value) {
  int exponent = 0;
  const double fraction = std::frexp(value, &exponent);  // in [1/2, 1)
  *this = Dyadic(static_cast<__int128>(std::ldexp(fraction, 53)), exponent - 53);
}

double Dyadic::ToDouble() const { return std::ldexp(static_cast<double>(m_), e_); }

Dyadic operator+(const Dyadic& a, const Dyadic& b) {
  if (a.IsZero()) return b;
  if (b.IsZero()) return a;
  const int e = std::min(a.e_, b.e_);
  LRNN_CHECK(std::max(a.e_, b.e_) - e <= 62, "the weights are rounded: exact numbers need more than 62 bits");
  return Dyadic((static_cast<__int128>(a.m_) << (a.e_ - e)) + (static_cast<__int128>(b.m_) << (b.e_ - e)), e);
}

Dyadic operator*(const Dyadic& a, const Dyadic& b) { return Dyadic(static_cast<__int128>(a.m_) * b.m_, a.e_ + b.e_); }

}  // namespace lrnn
