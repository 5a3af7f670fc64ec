// Rows of numbers that linear attention moves and sums, and the memory they lie in, compiled once for each SIMD target.

#include <hwy/aligned_allocator.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <type_traits>

#include "hwy/highway.h"
#include "lrnn/kernels/linear_attention.h"
#include "lrnn/kernels/prefetch.h"
#include "lrnn/kernels/sequence_groups.h"
#include "lrnn/kernels/sum_lanes-inl.h"

#ifndef LRNN_KERNELS_LINEAR_ATTENTION_ROWS_ONCE_
#define LRNN_KERNELS_LINEAR_ATTENTION_ROWS_ONCE_
// Loops over a few rows are unrolled at every level of optimisation: their arrays are registers.
#define LRNN_UNROLL_ROWS _Pragma("GCC unroll 4")
#define LRNN_UNROLL_BLOCK _Pragma("GCC unroll 8")

namespace lrnn::kernels {

// Where the rows of a head start.
struct AttentionRows {
  AttentionRows(const LinearAttentionShape& shape, const HeadRange& heads)
      : heads(heads),
        H(shape.heads),
        G(shape.key_groups),
        K(shape.key_width),
        V(shape.value_width),
        decays(shape.decay_per_channel ? shape.key_width : 1),
        heads_per_group(shape.heads / shape.key_groups) {}

  int64_t Key(int64_t token, int64_t head) const { return (token * G + head / heads_per_group) * K; }
  int64_t KeyGradient(int64_t token, int64_t head) const { return (token * H + head) * K; }
  int64_t Value(int64_t token, int64_t head) const { return (token * H + head) * V; }
  int64_t Decay(int64_t token, int64_t head) const { return (token * H + head) * decays; }
  int64_t State(int64_t index, int64_t head) const { return (index * H + head) * K * V; }

  // What the heads of the task will read or write of `tokens` tokens.
  template <typename T>
  void AddKeys(const T* keys, int64_t token, int64_t tokens, PrefetchQueue& ahead) const {
    const int64_t groups = (heads.end - 1) / heads_per_group - heads.begin / heads_per_group + 1;
    ahead.Add(keys + Key(token, heads.begin), tokens, groups * K, G * K);
  }
  // `width` numbers a head: values, decays, gradients.
  template <typename T>
  void AddRows(const T* rows, int64_t width, int64_t token, int64_t tokens, PrefetchQueue& ahead) const {
    ahead.Add(rows + (token * H + heads.begin) * width, tokens, heads.count() * width, H * width);
  }

  const HeadRange heads;
  const int64_t H, G, K, V;
  const int64_t decays;  // of a token and head: K or 1
  const int64_t heads_per_group;
};

// Memory for several arrays of known sizes, all starting on a vector, first filled with zeros: the padding stays zero.
template <typename T>
class ChunkScratch {
 public:
  struct Array {
    T** place;
    int64_t size;
  };
  explicit ChunkScratch(std::initializer_list<Array> arrays) {
    int64_t total = 0;
    for (const Array& array : arrays) total += Padded(array.size);
    memory_ = hwy::AllocateAligned<T>(total);
    std::fill_n(memory_.get(), total, T{0});
    T* place = memory_.get();
    for (const Array& array : arrays) {
      *array.place = place;
      place += Padded(array.size);
    }
  }

 private:
  // 96 more: arrays of 4 KiB one after the other would look to the CPU like one array, loads of one waiting for stores
  // to another.
  static int64_t Padded(int64_t size) { return (size + 31) / 32 * 32 + 96; }
  hwy::AlignedFreeUniquePtr<T[]> memory_;
};

}  // namespace lrnn::kernels
#endif

#if defined(LRNN_KERNELS_LINEAR_ATTENTION_ROWS_INL_) == defined(HWY_TARGET_TOGGLE)
#ifdef LRNN_KERNELS_LINEAR_ATTENTION_ROWS_INL_
#undef LRNN_KERNELS_LINEAR_ATTENTION_ROWS_INL_
#else
#define LRNN_KERNELS_LINEAR_ATTENTION_ROWS_INL_
#endif

HWY_BEFORE_NAMESPACE();
namespace lrnn::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Calls body(min(tokens, 4)) with a constant: a block's tokens are registers.
template <typename Body>
HWY_INLINE void WithTokens(int64_t tokens, const Body& body) {
  switch (tokens) {
    case 1:
      return body(std::integral_constant<int, 1>());
    case 2:
      return body(std::integral_constant<int, 2>());
    case 3:
      return body(std::integral_constant<int, 3>());
    default:
      return body(std::integral_constant<int, 4>());
  }
}

// sum x_i y_i over whole vectors. Four sums: one would wait for its own latency.
template <typename T>
HWY_INLINE T RowDot(int64_t width, const T* HWY_RESTRICT x, const T* HWY_RESTRICT y) {
  const hn::ScalableTag<T> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  hn::Vec<hn::ScalableTag<T>> sum[4];
  LRNN_UNROLL_ROWS for (int r = 0; r < 4; ++r) sum[r] = hn::Zero(d);
  int64_t i = 0;
  for (; i + 4 * lanes <= width; i += 4 * lanes) {
    LRNN_UNROLL_ROWS for (int r = 0; r < 4; ++r) {
      sum[r] = hn::MulAdd(hn::LoadU(d, x + i + r * lanes), hn::LoadU(d, y + i + r * lanes), sum[r]);
    }
  }
  for (; i < width; i += lanes) sum[0] = hn::MulAdd(hn::LoadU(d, x + i), hn::LoadU(d, y + i), sum[0]);
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(sum[0], sum[1]), hn::Add(sum[2], sum[3]))));
}

// to[r] = x_r . y_r for all rows of x: [rows, x_stride] and y: [rows, y_stride], over whole vectors.
template <typename T>
HWY_NOINLINE void RowDots(int64_t rows, int64_t width, const T* HWY_RESTRICT x, int64_t x_stride,
                          const T* HWY_RESTRICT y, int64_t y_stride, T* HWY_RESTRICT to) {
  const hn::ScalableTag<T> d;
  int64_t row = 0;
  for (; row + 4 <= rows; row += 4, x += 4 * x_stride, y += 4 * y_stride) {
    hn::Vec<hn::ScalableTag<T>> sum[4];
    LRNN_UNROLL_ROWS for (int r = 0; r < 4; ++r) sum[r] = hn::Zero(d);
    for (int64_t i = 0; i < width; i += static_cast<int64_t>(hn::Lanes(d))) {
      LRNN_UNROLL_ROWS for (int r = 0; r < 4; ++r) {
        sum[r] = hn::MulAdd(hn::LoadU(d, x + r * x_stride + i), hn::LoadU(d, y + r * y_stride + i), sum[r]);
      }
    }
    SumLanesOfFour<T>(sum, to + row);
  }
  for (; row < rows; ++row, x += x_stride, y += y_stride) to[row] = RowDot(width, x, y);
}

// to <- a from for rows of two strides, any addresses and width; 1 as the factor is as fast as a copy. Four vectors of
// all rows, then the next four: the loop over rows is tight.
template <typename T>
HWY_NOINLINE void ScaleRows(int64_t rows, int64_t width, T a, const T* from, int64_t from_stride, T* to,
                            int64_t to_stride) {
  const hn::ScalableTag<T> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto factor = hn::Set(d, a);
  const auto columns = [&](auto vectors, int64_t first) HWY_ATTR {
    const T* x = from + first;
    T* y = to + first;
    for (int64_t row = 0; row < rows; ++row, x += from_stride, y += to_stride) {
      for (int j = 0; j < vectors; ++j) {
        hn::StoreU(hn::Mul(factor, hn::LoadU(d, x + j * lanes)), d, y + j * lanes);
      }
    }
  };
  int64_t i = 0;
  for (; i + 4 * lanes <= width; i += 4 * lanes) columns(std::integral_constant<int, 4>(), i);
  for (; i + lanes <= width; i += lanes) columns(std::integral_constant<int, 1>(), i);
  for (; i < width; ++i) {
    for (int64_t row = 0; row < rows; ++row) to[row * to_stride + i] = a * from[row * from_stride + i];
  }
}

// to_i <- a_i x_i for rows of whole vectors.   x, to: [rows, width]
template <typename T>
HWY_NOINLINE void ScaleEachRow(int64_t rows, int64_t width, const T* HWY_RESTRICT a, const T* HWY_RESTRICT x,
                               T* HWY_RESTRICT to) {
  const hn::ScalableTag<T> d;
  for (int64_t row = 0; row < rows; ++row) {
    const auto factor = hn::Set(d, a[row]);
    for (const T* end = x + width; x < end; x += hn::Lanes(d), to += hn::Lanes(d)) {
      hn::Store(hn::Mul(factor, hn::Load(d, x)), d, to);
    }
  }
}

// to_ij <- x_ij y_ij for j <= i, 0 for the others up to `width`, whole vectors.   x, y, to: [n, stride]
template <typename T>
HWY_NOINLINE void MultiplyTriangle(int64_t n, int64_t width, int64_t stride, const T* HWY_RESTRICT x,
                                   const T* HWY_RESTRICT y, T* HWY_RESTRICT to) {
  const hn::ScalableTag<T> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t i = 0; i < n; ++i, x += stride, y += stride, to += stride) {
    int64_t j = 0;
    for (; j <= i; j += lanes) hn::Store(hn::Mul(hn::Load(d, x + j), hn::Load(d, y + j)), d, to + j);
    for (; j < width; j += lanes) hn::Store(hn::Zero(d), d, to + j);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace lrnn::kernels
HWY_AFTER_NAMESPACE();
#endif  // include guard
