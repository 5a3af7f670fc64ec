// Loops over the columns of a row, per-target code: whole vectors first, then what is left number by number.
#if defined(LRNN_KERNELS_COLUMNS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LRNN_KERNELS_COLUMNS_INL_H_
#undef LRNN_KERNELS_COLUMNS_INL_H_
#else
#define LRNN_KERNELS_COLUMNS_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace lrnn::kernels {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// body(vector type, first column); the last columns come as vectors of one number.
template <typename T, typename Body>
HWY_INLINE void ForColumns(int64_t count, const Body& body) {
  const hn::ScalableTag<T> d;
  const hn::CappedTag<T, 1> d1;
  const int64_t N = hn::Lanes(d);
  int64_t i = 0;
  for (; i + N <= count; i += N) body(d, i);
  for (; i < count; ++i) body(d1, i);
}

// The sum over all columns of what body(vector type, first column) gives.
template <typename T, typename Body>
HWY_INLINE T SumColumns(int64_t count, const Body& body) {
  const hn::ScalableTag<T> d;
  const hn::CappedTag<T, 1> d1;
  const int64_t N = hn::Lanes(d);
  auto sum = hn::Zero(d);
  auto rest = hn::Zero(d1);
  int64_t i = 0;
  for (; i + N <= count; i += N) sum = hn::Add(sum, body(d, i));
  for (; i < count; ++i) rest = hn::Add(rest, body(d1, i));
  return hn::GetLane(hn::SumOfLanes(d, sum)) + hn::GetLane(rest);
}

}  // namespace HWY_NAMESPACE
}  // namespace lrnn::kernels
HWY_AFTER_NAMESPACE();

#endif  // LRNN_KERNELS_COLUMNS_INL_H_
