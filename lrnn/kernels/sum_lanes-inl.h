// Sums over the lanes of four vectors at once, compiled once for each SIMD target: a third of the work of four sums.

#include <hwy/highway.h>

#if defined(LRNN_KERNELS_SUM_LANES_INL_) == defined(HWY_TARGET_TOGGLE)
#ifdef LRNN_KERNELS_SUM_LANES_INL_
#undef LRNN_KERNELS_SUM_LANES_INL_
#else
#define LRNN_KERNELS_SUM_LANES_INL_
#endif

HWY_BEFORE_NAMESPACE();
namespace lrnn::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR
// to[c] = sum of every fourth lane of v from lane c on.
template <class D, typename T = hn::TFromD<D>>
HWY_INLINE void AddBlocksOfFour(D d, hn::Vec<D> v, T* to) {
  if constexpr (hn::MaxLanes(D()) <= 4) {
    hn::StoreU(v, d, to);
  } else {
    const hn::Half<D> half;
    AddBlocksOfFour(half, hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v)), to);
  }
}
#endif

// to[c] = sum of the lanes of v[c], c < 4.
template <typename T>
HWY_INLINE void SumLanesOfFour(const hn::Vec<hn::ScalableTag<T>>* v, T* to) {
  const hn::ScalableTag<T> d;
#if HWY_TARGET != HWY_SCALAR
  if constexpr (sizeof(T) == 4) {  // transpose blocks of four while adding
    const hn::Repartition<double, hn::ScalableTag<T>> pairs;
    const auto low = hn::Add(hn::InterleaveLower(d, v[0], v[1]), hn::InterleaveUpper(d, v[0], v[1]));
    const auto high = hn::Add(hn::InterleaveLower(d, v[2], v[3]), hn::InterleaveUpper(d, v[2], v[3]));
    const auto even = hn::InterleaveLower(pairs, hn::BitCast(pairs, low), hn::BitCast(pairs, high));
    const auto odd = hn::InterleaveUpper(pairs, hn::BitCast(pairs, low), hn::BitCast(pairs, high));
    return AddBlocksOfFour(d, hn::Add(hn::BitCast(d, even), hn::BitCast(d, odd)), to);
  }
#endif
#pragma GCC unroll 4
  for (int c = 0; c < 4; ++c) to[c] = hn::GetLane(hn::SumOfLanes(d, v[c]));
}

}  // namespace HWY_NAMESPACE
}  // namespace lrnn::kernels
HWY_AFTER_NAMESPACE();
#endif  // include guard
