// Products of small matrices that stay in the first-level cache, and their transposes, compiled once for each SIMD
// target.
//
//   C <- start(C) + A B        A: [M, L]   B: [L, N]   C: [M, N], its rows at any address
//
// Rows of B and C are padded to whole vectors (N is a multiple of the lanes); lanes run over N. A may be given
// transposed. A block of 6 rows and 2 vectors of C is held in registers: 12 accumulators keep both FMA ports busy over
// their latency, for 8 loads.

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "hwy/highway.h"
#include "lrnn/kernels/prefetch.h"

#ifndef LRNN_KERNELS_SMALL_PRODUCT_ONCE_
#define LRNN_KERNELS_SMALL_PRODUCT_ONCE_
namespace lrnn::kernels {

// What A B is added to: nothing, C or another matrix, or the rows of either times scale[m].
enum class ProductStart { kZero, kAdd, kScaleRows };

// Which elements take part: all; the lower or upper triangle of A (diagonal included; the rest of A near the diagonal
// is read and must be 0); the blocks of C that reach into its lower triangle.
enum class ProductPart { kFull, kLowerA, kUpperA, kLowerC };

}  // namespace lrnn::kernels
#endif

#if defined(LRNN_KERNELS_SMALL_PRODUCT_INL_) == defined(HWY_TARGET_TOGGLE)
#ifdef LRNN_KERNELS_SMALL_PRODUCT_INL_
#undef LRNN_KERNELS_SMALL_PRODUCT_INL_
#else
#define LRNN_KERNELS_SMALL_PRODUCT_INL_
#endif

HWY_BEFORE_NAMESPACE();
namespace lrnn::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// One block of kRows rows and kVectors vectors of C, over the inner index l = begin .. end-1. Without the pragmas the
// accumulators stay in memory at -O2.
template <ProductStart kStart, bool kTransposedA, bool kPrefetch, int kRows, int kVectors, typename T>
HWY_INLINE void ProductBlock(int64_t begin, int64_t end, const T* HWY_RESTRICT A, int64_t A_stride,
                             const T* HWY_RESTRICT B, int64_t B_stride, T* C, int64_t C_stride,
                             const T* HWY_RESTRICT scale, const T* start, int64_t start_stride, PrefetchQueue* ahead) {
  const hn::ScalableTag<T> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  hn::Vec<hn::ScalableTag<T>> sum[kRows][kVectors];
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 8
    for (int j = 0; j < kVectors; ++j) {
      if constexpr (kStart == ProductStart::kZero) {
        sum[r][j] = hn::Zero(d);
      } else {
        sum[r][j] = hn::LoadU(d, start + r * start_stride + j * lanes);
        if constexpr (kStart == ProductStart::kScaleRows) sum[r][j] = hn::Mul(hn::Set(d, scale[r]), sum[r][j]);
      }
    }
  }
  PrefetchQueue::Lines lines{};
  if constexpr (kPrefetch) lines = ahead->Take(end - begin);
#pragma GCC unroll 2
  for (int64_t l = begin; l < end; ++l) {
    if constexpr (kPrefetch) lines.Next();
    hn::Vec<hn::ScalableTag<T>> b[kVectors];
#pragma GCC unroll 8
    for (int j = 0; j < kVectors; ++j) b[j] = hn::Load(d, B + l * B_stride + j * lanes);
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      const auto a = hn::Set(d, kTransposedA ? A[l * A_stride + r] : A[r * A_stride + l]);
#pragma GCC unroll 8
      for (int j = 0; j < kVectors; ++j) sum[r][j] = hn::MulAdd(a, b[j], sum[r][j]);
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 8
    for (int j = 0; j < kVectors; ++j) hn::StoreU(sum[r][j], d, C + r * C_stride + j * lanes);
  }
}

// Strides are those of the matrices as they are stored: A is [M, L] or, with kTransposedA, [L, M]. `scale` is read for
// ProductStart::kScaleRows only, `start` (null: C) for all but kZero. With kPrefetch, the lines of `ahead` are asked
// for on the way.
template <ProductStart kStart, bool kTransposedA, bool kPrefetch = false, typename T>
HWY_NOINLINE void Product(ProductPart part, int64_t M, int64_t N, int64_t L, const T* A, int64_t A_stride, const T* B,
                          int64_t B_stride, T* C, int64_t C_stride, const T* scale = nullptr,
                          PrefetchQueue* ahead = nullptr, const T* start = nullptr, int64_t start_stride = 0) {
  constexpr int64_t kMostRows = 6;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(hn::ScalableTag<T>()));
  if (M == 0) return;
  if (!start) start = C, start_stride = C_stride;
  // Rows are shared out evenly: blocks of rows + 1 up to row `split`, then blocks of `rows`.
  const int64_t blocks = (M + kMostRows - 1) / kMostRows, rows = M / blocks, split = M % blocks * (rows + 1);
  int64_t vectors;
  for (int64_t n = 0; n < N; n += vectors * lanes) {
    const int64_t rest = (N - n) / lanes;
    vectors = M <= 2 && rest >= 4 ? 4 : rest >= 2 ? 2 : 1;  // few rows: more vectors hide the latency
    const auto run_blocks = [&](auto count, auto wide, int64_t from, int64_t to) HWY_ATTR {
      for (int64_t m = from; m < to; m += count) {
        if (part == ProductPart::kLowerC && n >= m + count) continue;
        const int64_t begin = part == ProductPart::kUpperA ? m : 0;
        const int64_t end = part == ProductPart::kLowerA ? std::min<int64_t>(L, m + count) : L;
        ProductBlock<kStart, kTransposedA, kPrefetch, count, wide>(
            begin, end, A + (kTransposedA ? m : m * A_stride), A_stride, B + n, B_stride, C + m * C_stride + n,
            C_stride, scale ? scale + m : nullptr, start + m * start_stride + n, start_stride, ahead);
      }
    };
    const auto run_rows = [&](auto count, int64_t from, int64_t to) HWY_ATTR {
      if (vectors == 1) {
        run_blocks(count, std::integral_constant<int, 1>(), from, to);
      } else if (vectors == 2) {
        run_blocks(count, std::integral_constant<int, 2>(), from, to);
      } else if constexpr (count <= 2) {
        run_blocks(count, std::integral_constant<int, 4>(), from, to);
      }
    };
    // Blocks of 6 and 5, 5 and 4, 4 and 3 rows; fewer only where M is small.
    switch (rows) {
      case 1:
        run_rows(std::integral_constant<int, 1>(), 0, M);
        break;
      case 2:
        run_rows(std::integral_constant<int, 2>(), 0, M);
        break;
      case 3:
        run_rows(std::integral_constant<int, 4>(), 0, split);
        run_rows(std::integral_constant<int, 3>(), split, M);
        break;
      case 4:
        run_rows(std::integral_constant<int, 5>(), 0, split);
        run_rows(std::integral_constant<int, 4>(), split, M);
        break;
      case 5:
        run_rows(std::integral_constant<int, 6>(), 0, split);
        run_rows(std::integral_constant<int, 5>(), split, M);
        break;
      default:
        run_rows(std::integral_constant<int, 6>(), 0, M);
        break;
    }
  }
}

// to[c][r] = from[r][c] for r < rows, c < columns, in blocks of 128 bits: both matrices are padded to multiples of 4
// rows and columns, and the padding is transposed too.
template <typename T>
HWY_NOINLINE void Transpose(int64_t rows, int64_t columns, const T* HWY_RESTRICT from, int64_t from_stride,
                            T* HWY_RESTRICT to, int64_t to_stride) {
#if HWY_TARGET == HWY_SCALAR
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c) to[c * to_stride + r] = from[r * from_stride + c];
  }
#else
  constexpr int64_t kBlock = 16 / sizeof(T);
  const hn::FixedTag<T, kBlock> d;
  for (int64_t r = 0; r < rows; r += kBlock) {
    for (int64_t c = 0; c < columns; c += kBlock) {
      const T* x = from + r * from_stride + c;
      T* y = to + c * to_stride + r;
      if constexpr (sizeof(T) == 4) {
        const auto a0 = hn::LoadU(d, x), a1 = hn::LoadU(d, x + from_stride);
        const auto a2 = hn::LoadU(d, x + 2 * from_stride), a3 = hn::LoadU(d, x + 3 * from_stride);
        const auto b0 = hn::InterleaveLower(d, a0, a1), b1 = hn::InterleaveUpper(d, a0, a1);
        const auto b2 = hn::InterleaveLower(d, a2, a3), b3 = hn::InterleaveUpper(d, a2, a3);
        hn::StoreU(hn::ConcatLowerLower(d, b2, b0), d, y);
        hn::StoreU(hn::ConcatUpperUpper(d, b2, b0), d, y + to_stride);
        hn::StoreU(hn::ConcatLowerLower(d, b3, b1), d, y + 2 * to_stride);
        hn::StoreU(hn::ConcatUpperUpper(d, b3, b1), d, y + 3 * to_stride);
      } else {
        const auto a0 = hn::LoadU(d, x), a1 = hn::LoadU(d, x + from_stride);
        hn::StoreU(hn::InterleaveLower(d, a0, a1), d, y);
        hn::StoreU(hn::InterleaveUpper(d, a0, a1), d, y + to_stride);
      }
    }
  }
#endif
}

}  // namespace HWY_NAMESPACE
}  // namespace lrnn::kernels
HWY_AFTER_NAMESPACE();
#endif  // include guard
