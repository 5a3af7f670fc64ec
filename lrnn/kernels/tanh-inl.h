// Hyperbolic tangent of vectors, per-target code.
#if defined(LRNN_KERNELS_TANH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LRNN_KERNELS_TANH_INL_H_
#undef LRNN_KERNELS_TANH_INL_H_
#else
#define LRNN_KERNELS_TANH_INL_H_
#endif

#include "lrnn/kernels/sigmoid-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lrnn::kernels {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// tanh(x) = (1 - e) / (1 + e) for e = exp(-2 |x|), with the sign of x: the absolute error is a rounding of 1. NaN stays
// NaN.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V TanhByExp(D d, V x) {
  const V one = hn::Set(d, hn::TFromD<D>{1});
  const V e = ExpNegAbs(d, hn::Add(x, x));
  const V t = hn::CopySign(hn::Div(hn::Sub(one, e), hn::Add(one, e)), x);
  return hn::IfThenElse(hn::IsNaN(x), x, t);
}

}  // namespace HWY_NAMESPACE
}  // namespace lrnn::kernels
HWY_AFTER_NAMESPACE();

#endif  // LRNN_KERNELS_TANH_INL_H_
