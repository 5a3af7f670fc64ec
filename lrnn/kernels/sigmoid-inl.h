// Sigmoid and SiLU of vectors, per-target code.
#if defined(LRNN_KERNELS_SIGMOID_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LRNN_KERNELS_SIGMOID_INL_H_
#undef LRNN_KERNELS_SIGMOID_INL_H_
#else
#define LRNN_KERNELS_SIGMOID_INL_H_
#endif

#include <hwy/highway.h>

#include "hwy/contrib/math/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lrnn::kernels {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// exp(-|x|), within 2 units in the last place, 0 where that is below the normal numbers; 0 for NaN. In float half the
// instructions of hn::Exp: the sign is known, and one multiplication by a power of two is enough.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V ExpNegAbs(D d, V x) {
  const V a = hn::Or(x, hn::SignBit(d));
  if constexpr (sizeof(hn::TFromD<D>) == 4) {
    const hn::RebindToSigned<D> di;
    const V kRound = hn::Set(d, 12582912.0f);  // 1.5 * 2^23: a sum with it holds the rounded value in its low bits
    const V rounded = hn::MulAdd(a, hn::Set(d, 1.44269504f), kRound);
    const V n = hn::Sub(rounded, kRound);
    V r = hn::NegMulAdd(n, hn::Set(d, 0.693359375f), a);  // a - n ln 2, in [-ln 2 / 2, ln 2 / 2]
    r = hn::MulAdd(n, hn::Set(d, 2.12194440e-4f), r);
    V q = hn::Set(d, 0.000198527617612853646278381f);  // exp(r) = 1 + r + r^2 q(r), coefficients of SLEEF
    q = hn::MulAdd(q, r, hn::Set(d, 0.00139304355252534151077271f));
    q = hn::MulAdd(q, r, hn::Set(d, 0.00833336077630519866943359f));
    q = hn::MulAdd(q, r, hn::Set(d, 0.0416664853692054748535156f));
    q = hn::MulAdd(q, r, hn::Set(d, 0.166666671633720397949219f));
    q = hn::MulAdd(q, r, hn::Set(d, 0.5f));
    q = hn::Add(hn::MulAdd(q, hn::Mul(r, r), r), hn::Set(d, 1.0f));
    const auto power = hn::Add(hn::BitCast(di, q), hn::ShiftLeft<23>(hn::BitCast(di, rounded)));
    return hn::IfThenElseZero(hn::Ge(a, hn::Set(d, -87.0f)), hn::BitCast(d, power));
  } else {
    return hn::Exp(d, a);
  }
}

// s = 1 / (1 + exp(-x)) and 1 - s, both to full relative precision. s is 1 for NaN.
template <class D, class V = hn::Vec<D>>
HWY_INLINE void Sigmoid(D d, V x, V& s, V& one_minus_s) {
  const V one = hn::Set(d, hn::TFromD<D>{1});
  const V e = ExpNegAbs(d, x);
  const V large = hn::Div(one, hn::Add(one, e));
  const V small = hn::Mul(e, large);
  const auto negative = hn::Lt(x, hn::Zero(d));
  s = hn::IfThenElse(negative, small, large);
  one_minus_s = hn::IfThenElse(negative, large, small);
}

// x s. NaN stays NaN.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Silu(D d, V x) {
  V s, one_minus_s;
  Sigmoid(d, x, s, one_minus_s);
  return hn::Mul(x, s);
}

// d silu / d x = s + x s (1 - s)
template <class D, class V = hn::Vec<D>>
HWY_INLINE V SiluDerivative(D d, V x) {
  V s, one_minus_s;
  Sigmoid(d, x, s, one_minus_s);
  return hn::MulAdd(hn::Mul(x, s), one_minus_s, s);
}

}  // namespace HWY_NAMESPACE
}  // namespace lrnn::kernels
HWY_AFTER_NAMESPACE();

#endif  // LRNN_KERNELS_SIGMOID_INL_H_
