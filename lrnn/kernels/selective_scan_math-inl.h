// Functions of the selective scan on vectors, compiled once per SIMD target: 2^x, softplus, silu.
//
// hwy/contrib/math has exp and log1p too, with twice the operations; here the arguments are known to be of one sign.

#if defined(LRNN_KERNELS_SELECTIVE_SCAN_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LRNN_KERNELS_SELECTIVE_SCAN_MATH_INL_H_
#undef LRNN_KERNELS_SELECTIVE_SCAN_MATH_INL_H_
#else
#define LRNN_KERNELS_SELECTIVE_SCAN_MATH_INL_H_
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace lrnn::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// c0 + x (c1 + x (c2 + ...))
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Horner(D d, V /*x*/, double c0) {
  return hn::Set(d, static_cast<hn::TFromD<D>>(c0));
}
template <class D, class V = hn::Vec<D>, typename... Coefficients>
HWY_INLINE V Horner(D d, V x, double c0, Coefficients... rest) {
  return hn::MulAdd(Horner(d, x, rest...), x, Horner(d, x, c0));
}

// x, for the compiler a number of unknown origin. Without, it contracts a product and the two additions that use it to
// two multiply-adds: one operation less, but one more of those that only half of a core's vector units can do.
template <class V>
HWY_INLINE V NotContracted(V x) {
#if HWY_TARGET <= HWY_AVX2
  asm("" : "+v"(x.raw));
#endif
  return x;
}

// Added to a number below 2^22 (2^51), this leaves the number's nearest integer in the low bits of the sum.
template <typename Real>
inline constexpr Real kRound = sizeof(Real) == 4 ? Real(12582912.0) : Real(6755399441055744.0);

// How many steps from one exponent to the next there are powers of two of in a table: one that fills a vector.
#if HWY_TARGET <= HWY_AVX3
template <class D>
inline constexpr int kTableSteps = sizeof(hn::TFromD<D>) == 4 && hn::MaxLanes(D()) == 16 ? 16 : 1;

// The bits of 2^(j / 16), less those that j sets when the sixteenths of an exponent are shifted to bit 19.
HWY_ALIGN_MAX inline constexpr int32_t kSixteenths[16] = {
    0x3F800000, 0x3F7DAAC3, 0x3F7B95C2, 0x3F79C3D3, 0x3F7837F0, 0x3F76F532, 0x3F75FED7, 0x3F75583F,
    0x3F7504F3, 0x3F7508A4, 0x3F75672A, 0x3F76248C, 0x3F7744FD, 0x3F78CCDF, 0x3F7AC0C7, 0x3F7D257D};
#else
template <class D>
inline constexpr int kTableSteps = 1;
#endif

// n / kSteps + r with |r| <= 1/2 / kSteps and the integer n in the low bits of `rounded`.
template <int kSteps, class V>
struct Exponent {
  V rounded, r;
};

// 2 to this power; exactly 2^(n / kSteps) at r = 0.
template <class D, int kSteps, class V = hn::Vec<D>>
HWY_INLINE V Power(D d, Exponent<kSteps, V> x) {
  const hn::RebindToSigned<D> di;
  const auto n = hn::BitCast(di, x.rounded);
  const V r = x.r;
#if HWY_TARGET <= HWY_AVX3
  if constexpr (kSteps == 16) {
    // As s + s r q(r), s from the table. Of the operations, 4 instead of 6 are multiplications, which a core does fewer
    // of than of additions. Not by IndicesFromVec, which wants an index below 16: the instruction looks at its low four
    // bits only.
    const auto fraction = hn::TableLookupLanes(hn::Load(di, kSixteenths), hn::Indices512<int32_t>{n.raw});
    const V s = hn::BitCast(d, hn::Add(fraction, hn::ShiftLeft<19>(n)));
    // 1 + r q(r) is the best polynomial of its degree for 2^r: relative error 2e-9.
    const V q = Horner(d, r, 0.69314718055994531, 0.24023428813004022, 0.055504108664821580);
    return hn::MulAdd(hn::Mul(s, r), q, s);
  }
#endif
  // 1 + r q(r), q the Chebyshev interpolation of (2^r - 1) / r: relative error 5e-9 or 8e-18.
  if constexpr (sizeof(hn::TFromD<D>) == 4) {
    const V p = Horner(d, r, 1, 0.69314718802622877, 0.24022650760568126, 0.055503571142190782, 0.0096180825572778524,
                       0.0013390863364671234, 0.00015453162945120691);
    return hn::BitCast(d, hn::Add(hn::BitCast(di, p), hn::ShiftLeft<23>(n)));
  } else {
    const V p = Horner(d, r, 1, 0.69314718055994529, 0.24022650695910097, 0.055504108664821597, 0.0096181291076068882,
                       0.0013333558146416936, 0.0001540353044173605, 1.5252733829836119e-05, 1.3215442587921689e-06,
                       1.0178062445845774e-07, 7.0725859492692234e-09, 4.4549605981865186e-10);
    return hn::BitCast(d, hn::Add(hn::BitCast(di, p), hn::ShiftLeft<52>(n)));
  }
}

// 2^x and 2 * 2^x are normal numbers for |x| up to this, and so are floats smaller by 2^26.
template <typename Real>
inline constexpr Real kModerate = sizeof(Real) == 4 ? 100 : 1022;

// x or, kExtended, x + 1, at no cost: the one is in the constant that rounds x. Exact at integers. Power of it is
//
// kClamp: infinite on overflow; below the normal numbers it is off by less than the smallest of them and soon exactly
// 0; a NaN becomes infinite on x86. Without: |x| <= kModerate, and two operations less, with vectors
// of 16 floats another way.
template <bool kExtended, bool kClamp, class D, class V = hn::Vec<D>>
HWY_INLINE auto SplitExponent(D d, V x) {
  using Real = hn::TFromD<D>;
  constexpr int kSteps = kClamp ? 1 : kTableSteps<D>;
  if constexpr (kClamp) {
    constexpr Real kHighest = sizeof(Real) == 4 ? 128 : 1024;  // its exponent bits are those of infinity
    constexpr Real kLowest = 1 - kHighest;                     // its exponent bits are those of 0
    x = hn::Min(x, hn::Set(d, kHighest - Real(kExtended)));
    x = hn::Max(x, hn::Set(d, kLowest - Real(kExtended)));
  } else {
    x = NotContracted(x);
  }
  const V round = hn::Set(d, kRound<Real> / kSteps + Real(kExtended));
  const V rounded = hn::Add(x, round);
  return Exponent<kSteps, V>{rounded, hn::Sub(x, hn::Sub(rounded, round))};
}

// 2^x for kExtended = false, 2 * 2^x for true. Exactly 1 or 2 at x = 0.
template <bool kExtended, bool kClamp = true, class D, class V = hn::Vec<D>>
HWY_INLINE V Exp2(D d, V x) {
  return Power(d, SplitExponent<kExtended, kClamp>(d, x));
}

// e^x for x <= 0, with small relative error for all of them; 0 where it would not be a normal number.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V ExpOfNegative(D d, V x) {
  using Real = hn::TFromD<D>;
  constexpr bool kFloat = sizeof(Real) == 4;
  const V log2e = hn::Set(d, Real(1.4426950408889634));
  const V round = hn::Set(d, kRound<Real> / kTableSteps<D>);
  const V rounded = hn::MulAdd(x, log2e, round);
  const V n = hn::Sub(rounded, round);
  // x - n ln 2 in two parts, n times the first of which is exact, as is their difference.
  V r = hn::NegMulAdd(n, hn::Set(d, Real(kFloat ? 0.693145751953125 : 0.6931471805596629565)), x);
  r = hn::NegMulAdd(n, hn::Set(d, Real(kFloat ? 1.428606820309417e-6 : 2.8235290563031577e-13)), r);
  return hn::IfThenElseZero(hn::Ge(x, hn::Set(d, Real(kFloat ? -87 : -708))),
                            Power(d, Exponent<kTableSteps<D>, V>{rounded, hn::Mul(r, log2e)}));
}

// log(1 + e) for e in [0, 1], with small relative error: 2 atanh(s) for s = e / (2 + e), so s <= 1/3.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V LogOfOnePlus(D d, V e) {
  using Real = hn::TFromD<D>;
  const V s = hn::Div(e, hn::Add(e, hn::Set(d, Real(2))));
  const V w = hn::Mul(s, s);
  // The Chebyshev interpolation of 2 atanh(s) / s in w: relative error 4e-9 or 5e-17.
  if constexpr (sizeof(Real) == 4) {
    return hn::Mul(s, Horner(d, w, 2.0000000076817588, 0.66666321641377768, 0.40024595230703747, 0.27965157745197267,
                             0.28157778363109082));
  } else {
    return hn::Mul(s, Horner(d, w, 2, 0.66666666666682572, 0.399999999952876, 0.28571429111657159, 0.22222190861346283,
                             0.18182859800473911, 0.15363676248891633, 0.13591305485579894, 0.098807890487647862,
                             0.17780763826113305));
  }
}

// value = softplus(x), slope = softplus'(x) = sigmoid(x); no overflow, and e^x itself where x is very negative.
template <class D, class V = hn::Vec<D>>
HWY_INLINE void Softplus(D d, V x, V& value, V& slope) {
  const V one = hn::Set(d, hn::TFromD<D>(1));
  const auto negative = hn::Lt(x, hn::Zero(d));  // false for NaN, which Max may swallow
  const V e = ExpOfNegative(d, hn::Neg(hn::Abs(x)));
  value = hn::Add(hn::IfThenZeroElse(negative, x), LogOfOnePlus(d, e));
  const V s = hn::Div(one, hn::Add(one, e));
  slope = hn::IfThenElse(negative, hn::Mul(e, s), s);
}

// value = silu(z) = z sigmoid(z), slope = silu'(z).
template <class D, class V = hn::Vec<D>>
HWY_INLINE void Silu(D d, V z, V& value, V& slope) {
  const V one = hn::Set(d, hn::TFromD<D>(1));
  const V e = ExpOfNegative(d, hn::Neg(hn::Abs(z)));
  const V r = hn::Div(one, hn::Add(one, e));
  const V s = hn::IfThenElse(hn::Lt(z, hn::Zero(d)), hn::Mul(e, r), r);
  value = hn::Mul(z, s);
  slope = hn::MulAdd(value, hn::Sub(one, s), s);
}

}  // namespace lrnn::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
