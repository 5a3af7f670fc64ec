// Matrices whose rows are padded to whole vectors, as small_product-inl.h wants them; per-target code.
#if defined(LRNN_KERNELS_PADDED_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LRNN_KERNELS_PADDED_ROWS_INL_H_
#undef LRNN_KERNELS_PADDED_ROWS_INL_H_
#else
#define LRNN_KERNELS_PADDED_ROWS_INL_H_
#endif

#include <hwy/aligned_allocator.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace lrnn::kernels {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// The smallest width for n columns that is whole vectors and whole blocks of Transpose.
template <typename T>
int64_t PaddedWidth(int64_t n) {
  const int64_t unit = std::max<int64_t>(4, static_cast<int64_t>(hn::Lanes(hn::ScalableTag<T>())));
  return (n + unit - 1) / unit * unit;
}

// `count` zeros, aligned to a vector.
template <typename T>
hwy::AlignedFreeUniquePtr<T[]> AlignedZeros(int64_t count) {
  auto memory = hwy::AllocateAligned<T>(count);
  std::fill_n(memory.get(), count, T{0});
  return memory;
}

// [rows, columns] from rows of one stride to rows of another.
template <typename T>
void CopyRows(int64_t rows, int64_t columns, const T* from, int64_t from_stride, T* to, int64_t to_stride) {
  for (int64_t i = 0; i < rows; ++i) std::copy_n(from + i * from_stride, columns, to + i * to_stride);
}

}  // namespace HWY_NAMESPACE
}  // namespace lrnn::kernels
HWY_AFTER_NAMESPACE();

#endif  // LRNN_KERNELS_PADDED_ROWS_INL_H_
