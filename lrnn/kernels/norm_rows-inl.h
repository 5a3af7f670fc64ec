// Normalised rows, the per-target code that RmsNorm and L2Norm share:
//
//   u = x r,  r = 1 / sqrt(scale * sum(x^2) + eps)        y = u * weight, or u without a weight
//   g = dy * weight        dx = r (g - u scale * sum(g u))        dweight = sum over rows of dy * u
//
// RmsNorm is scale = 1 / D with a weight, L2Norm is scale = 1 without.
#if defined(LRNN_KERNELS_NORM_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LRNN_KERNELS_NORM_ROWS_INL_H_
#undef LRNN_KERNELS_NORM_ROWS_INL_H_
#else
#define LRNN_KERNELS_NORM_ROWS_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>

#include "hwy/contrib/dot/dot-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lrnn::kernels {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// 1 / sqrt(sum), 0 for a row of zeros without eps: its output and its gradient are zero then, not NaN.
template <typename T>
HWY_INLINE T InverseRoot(T sum) {
  const hn::CappedTag<T, 1> d;
  return sum > T{0} ? hn::GetLane(hn::Div(hn::Set(d, T{1}), hn::Sqrt(hn::Set(d, sum)))) : sum * T{0};  // keeps NaN
}

template <bool kWeighted, class D, typename T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> Weighted(D d, hn::Vec<D> v, const T* weight, int64_t i) {
  if constexpr (kWeighted) {
    return hn::Mul(v, hn::LoadU(d, weight + i));
  } else {
    return v;
  }
}

template <bool kWeighted, typename T>
HWY_INLINE void NormRow(const T* x, int64_t D, const T* weight, T scale, T eps, T* y) {
  const hn::ScalableTag<T> d;
  const hn::CappedTag<T, 1> d1;
  const int64_t N = hn::Lanes(d);
  const T r = InverseRoot(scale * hn::Dot::Compute<0>(d, x, x, D) + eps);
  int64_t i = 0;
  for (; i + N <= D; i += N) {
    hn::StoreU(Weighted<kWeighted>(d, hn::Mul(hn::LoadU(d, x + i), hn::Set(d, r)), weight, i), d, y + i);
  }
  for (; i < D; ++i) {
    hn::StoreU(Weighted<kWeighted>(d1, hn::Mul(hn::LoadU(d1, x + i), hn::Set(d1, r)), weight, i), d1, y + i);
  }
}

// Adds this row's x^2 and g x to vector sums over columns [i, end), a multiple of the lanes of d.
template <bool kWeighted, class D, typename T = hn::TFromD<D>>
HWY_INLINE void AddSums(D d, const T* x, const T* weight, const T* dy, int64_t i, hn::Vec<D>& xx, hn::Vec<D>& gx) {
  const auto vx = hn::LoadU(d, x + i);
  xx = hn::MulAdd(vx, vx, xx);
  gx = hn::MulAdd(Weighted<kWeighted>(d, hn::LoadU(d, dy + i), weight, i), vx, gx);
}

template <bool kWeighted, class D, typename T = hn::TFromD<D>>
HWY_INLINE void WriteGradient(D d, const T* x, const T* weight, const T* dy, int64_t i, T r, T c, const T* added, T* dx,
                              T* dweight) {
  const auto u = hn::Mul(hn::LoadU(d, x + i), hn::Set(d, r));
  const auto vdy = hn::LoadU(d, dy + i);
  const auto g = Weighted<kWeighted>(d, vdy, weight, i);
  const auto gradient = hn::Mul(hn::Set(d, r), hn::NegMulAdd(u, hn::Set(d, c), g));
  hn::StoreU(added == nullptr ? gradient : hn::Add(gradient, hn::LoadU(d, added + i)), d, dx + i);
  if constexpr (kWeighted) {
    if (dweight != nullptr) hn::StoreU(hn::MulAdd(vdy, u, hn::LoadU(d, dweight + i)), d, dweight + i);
  }
}

// Adds to dweight unless it is null; `added`, unless it is null, is another gradient of x that dx includes.
template <bool kWeighted, typename T>
HWY_INLINE void NormRowBackward(const T* x, int64_t D, const T* weight, T scale, T eps, const T* dy, const T* added,
                                T* dx, T* dweight) {
  const hn::ScalableTag<T> d;
  const hn::CappedTag<T, 1> d1;
  const int64_t N = hn::Lanes(d);
  // Two accumulators each: with the two kinds of sums that is four independent chains.
  auto xx0 = hn::Zero(d), xx1 = hn::Zero(d), gx0 = hn::Zero(d), gx1 = hn::Zero(d);
  int64_t i = 0;
  for (; i + 2 * N <= D; i += 2 * N) {
    AddSums<kWeighted>(d, x, weight, dy, i, xx0, gx0);
    AddSums<kWeighted>(d, x, weight, dy, i + N, xx1, gx1);
  }
  if (i + N <= D) {
    AddSums<kWeighted>(d, x, weight, dy, i, xx0, gx0);
    i += N;
  }
  auto xx_tail = hn::Zero(d1), gx_tail = hn::Zero(d1);
  for (; i < D; ++i) AddSums<kWeighted>(d1, x, weight, dy, i, xx_tail, gx_tail);
  const T xx = hn::GetLane(hn::SumOfLanes(d, hn::Add(xx0, xx1))) + hn::GetLane(xx_tail);
  const T gx = hn::GetLane(hn::SumOfLanes(d, hn::Add(gx0, gx1))) + hn::GetLane(gx_tail);

  const T r = InverseRoot(scale * xx + eps);
  const T c = scale * (gx * r);  // scale * sum(g u); r^3 never appears, it would overflow for a small eps
  for (i = 0; i + N <= D; i += N) WriteGradient<kWeighted>(d, x, weight, dy, i, r, c, added, dx, dweight);
  for (; i < D; ++i) WriteGradient<kWeighted>(d1, x, weight, dy, i, r, c, added, dx, dweight);
}

}  // namespace HWY_NAMESPACE
}  // namespace lrnn::kernels
HWY_AFTER_NAMESPACE();

#endif  // LRNN_KERNELS_NORM_ROWS_INL_H_
