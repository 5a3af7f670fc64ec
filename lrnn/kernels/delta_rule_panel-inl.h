// Loops of the delta rule's backward pass over a panel: some columns of a state or of its gradient, held transposed
// ([column, K], lanes over K). Compiled once for each SIMD target.

#include <algorithm>
#include <cstdint>

#include "lrnn/kernels/delta_rule_chunk-inl.h"

#if defined(LRNN_KERNELS_DELTA_RULE_PANEL_INL_) == defined(HWY_TARGET_TOGGLE)
#ifdef LRNN_KERNELS_DELTA_RULE_PANEL_INL_
#undef LRNN_KERNELS_DELTA_RULE_PANEL_INL_
#else
#define LRNN_KERNELS_DELTA_RULE_PANEL_INL_
#endif

HWY_BEFORE_NAMESPACE();
namespace lrnn::kernels {
namespace HWY_NAMESPACE {

constexpr int64_t kColumns = 32;  // of a panel
#define LRNN_UNROLL_COLUMNS _Pragma("GCC unroll 2")

// to <- a from for `count` of kColumns numbers, 0 for the others.
template <typename T>
HWY_INLINE void ScaleColumns(T a, const T* HWY_RESTRICT from, int64_t count, T* HWY_RESTRICT to) {
  const Tag<T> d;
  const auto factor = hn::Set(d, a);
  if (count == kColumns) {
    for (int64_t j = 0; j < kColumns; j += LanesOf<T>()) hn::Store(hn::Mul(factor, hn::LoadU(d, from + j)), d, to + j);
    return;
  }
  for (int64_t j = 0; j < kColumns; j += LanesOf<T>()) {
    hn::Store(count > j ? hn::Mul(factor, LoadSome(from + j, count - j)) : hn::Zero(d), d, to + j);
  }
}

// to <- from, or to + from; `from` is padded to whole vectors.
template <typename T>
HWY_INLINE void StoreRow(const T* HWY_RESTRICT from, int64_t count, bool add, T* HWY_RESTRICT to) {
  const Tag<T> d;
  const int64_t lanes = LanesOf<T>();
  int64_t i = 0;
  if (add) {
    for (; i + lanes <= count; i += lanes) hn::StoreU(hn::Add(hn::LoadU(d, to + i), hn::Load(d, from + i)), d, to + i);
  } else {
    for (; i + lanes <= count; i += lanes) hn::StoreU(hn::Load(d, from + i), d, to + i);
  }
  for (; i < count; ++i) to[i] = add ? to[i] + from[i] : from[i];
}

// out_c = sum over columns of S_column x_c[column], c < kCount;  S: [kColumns, stride], x: [kCount, kColumns],
// out: [kCount, stride]. kWide vectors of K at once.
template <int kCount, int kWide, typename T>
HWY_INLINE void SumColumnsAt(int64_t stride, const T* HWY_RESTRICT S, const T* HWY_RESTRICT x, T* HWY_RESTRICT out) {
  const Tag<T> d;
  const int64_t lanes = LanesOf<T>();
  Vector<T> sum[kCount][kWide];
  LRNN_UNROLL for (int c = 0; c < kCount; ++c) { LRNN_UNROLL for (int j = 0; j < kWide; ++j) sum[c][j] = hn::Zero(d); }
  LRNN_UNROLL_COLUMNS for (int64_t column = 0; column < kColumns; ++column, S += stride) {
    Vector<T> s[kWide];
    LRNN_UNROLL for (int j = 0; j < kWide; ++j) s[j] = hn::Load(d, S + j * lanes);
    LRNN_UNROLL for (int c = 0; c < kCount; ++c) {
      const auto xc = hn::Set(d, x[c * kColumns + column]);
      LRNN_UNROLL for (int j = 0; j < kWide; ++j) sum[c][j] = hn::MulAdd(xc, s[j], sum[c][j]);
    }
  }
  LRNN_UNROLL for (int c = 0; c < kCount; ++c) {
    LRNN_UNROLL for (int j = 0; j < kWide; ++j) hn::Store(sum[c][j], d, out + c * stride + j * lanes);
  }
}

template <int kCount, typename T>
HWY_INLINE void SumColumns(int64_t stride, const T* HWY_RESTRICT S, const T* HWY_RESTRICT x, T* HWY_RESTRICT out) {
  const int64_t lanes = LanesOf<T>();
  int64_t i = 0;
  for (; i + 2 * lanes <= stride; i += 2 * lanes) SumColumnsAt<kCount, 2>(stride, S + i, x, out + i);
  if (i < stride) SumColumnsAt<kCount, 1>(stride, S + i, x, out + i);
}

enum class RowSign { kPlus, kMinus };

// to <- decay from +- sum_c x_c f_c^T, transposed, for kWide vectors of K: kCount rows x_c, kRow apart.
//   from, to: [kColumns, stride], f: [kCount, kColumns]; `from` may be `to`.
template <int kCount, int kWide, RowSign kSign, bool kDecay, typename T>
HWY_INLINE void AddRowsAt(int64_t stride, T decay, const T* HWY_RESTRICT x, const T* HWY_RESTRICT f, const T* from,
                          T* to) {
  const Tag<T> d;
  const int64_t lanes = LanesOf<T>();
  const auto a = hn::Set(d, decay);
  Vector<T> xv[kCount][kWide];
  LRNN_UNROLL for (int c = 0; c < kCount; ++c) {
    LRNN_UNROLL for (int j = 0; j < kWide; ++j) xv[c][j] = hn::Load(d, x + c * kRow + j * lanes);
  }
  LRNN_UNROLL_COLUMNS for (int64_t column = 0; column < kColumns; ++column, from += stride, to += stride) {
    Vector<T> s[kWide];
    LRNN_UNROLL for (int j = 0; j < kWide; ++j) {
      s[j] = hn::Load(d, from + j * lanes);
      if constexpr (kDecay) s[j] = hn::Mul(a, s[j]);
    }
    LRNN_UNROLL for (int c = 0; c < kCount; ++c) {
      const auto fc = hn::Set(d, f[c * kColumns + column]);
      LRNN_UNROLL for (int j = 0; j < kWide; ++j) {
        s[j] = kSign == RowSign::kPlus ? hn::MulAdd(fc, xv[c][j], s[j]) : hn::NegMulAdd(fc, xv[c][j], s[j]);
      }
    }
    LRNN_UNROLL for (int j = 0; j < kWide; ++j) hn::Store(s[j], d, to + j * lanes);
  }
}

template <int kCount, RowSign kSign, bool kDecay, typename T>
HWY_INLINE void AddRows(int64_t K, int64_t stride, T decay, const T* HWY_RESTRICT rows, const T* HWY_RESTRICT f,
                        const T* from, T* to) {
  const int64_t lanes = LanesOf<T>();
  for (int64_t first = 0; first < K; first += kPanel, rows += kRows * kRow) {
    const int64_t count = std::min(kPanel, K - first);
    int64_t i = 0;
    for (; i + 2 * lanes <= count; i += 2 * lanes) {
      AddRowsAt<kCount, 2, kSign, kDecay>(stride, decay, rows + i, f, from + first + i, to + first + i);
    }
    for (; i < count; i += lanes) {
      AddRowsAt<kCount, 1, kSign, kDecay>(stride, decay, rows + i, f, from + first + i, to + first + i);
    }
  }
}

// z_c[column] = G_column . x_c for four rows x_c; z: [4, kColumns]. One row and eight columns at a time: then the sums
// over lanes come out side by side.
template <typename T>
HWY_INLINE void DotRows(int64_t K, int64_t stride, const T* HWY_RESTRICT rows, const T* HWY_RESTRICT G,
                        T* HWY_RESTRICT z) {
  constexpr int kAtOnce = 8;
  const Tag<T> d;
  for (int c = 0; c < kSlots; ++c) {
    const T* HWY_RESTRICT columns = G;
    for (int64_t column = 0; column < kColumns; column += kAtOnce, columns += kAtOnce * stride) {
      Vector<T> dot[kAtOnce];
      LRNN_UNROLL for (int j = 0; j < kAtOnce; ++j) dot[j] = hn::Zero(d);
      const T* HWY_RESTRICT panel = rows + c * kRow;
      for (int64_t first = 0; first < K; first += kPanel, panel += kRows * kRow) {
        const int64_t count = std::min(kPanel, K - first);
        for (int64_t i = 0; i < count; i += LanesOf<T>()) {
          const auto x = hn::Load(d, panel + i);
          LRNN_UNROLL for (int j = 0; j < kAtOnce; ++j) {
            dot[j] = hn::MulAdd(x, hn::Load(d, columns + j * stride + first + i), dot[j]);
          }
        }
      }
      SumLanesOfFour<T>(dot, z + c * kColumns + column);
      SumLanesOfFour<T>(dot + 4, z + c * kColumns + column + 4);
    }
  }
}

// x . y over `size` numbers, a multiple of the lanes. Four sums: one alone would wait for itself.
template <typename T>
HWY_INLINE T Dot(int64_t size, const T* HWY_RESTRICT x, const T* HWY_RESTRICT y) {
  constexpr int kSums = 4;
  const Tag<T> d;
  const int64_t lanes = LanesOf<T>();
  Vector<T> sum[kSums];
  LRNN_UNROLL for (int c = 0; c < kSums; ++c) sum[c] = hn::Zero(d);
  int64_t i = 0;
  for (; i + kSums * lanes <= size; i += kSums * lanes) {
    LRNN_UNROLL for (int c = 0; c < kSums; ++c) {
      sum[c] = hn::MulAdd(hn::Load(d, x + i + c * lanes), hn::Load(d, y + i + c * lanes), sum[c]);
    }
  }
  for (; i < size; i += lanes) sum[0] = hn::MulAdd(hn::Load(d, x + i), hn::Load(d, y + i), sum[0]);
  return SumLanes<T>(hn::Add(hn::Add(sum[0], sum[1]), hn::Add(sum[2], sum[3])));
}

}  // namespace HWY_NAMESPACE
}  // namespace lrnn::kernels
HWY_AFTER_NAMESPACE();
#endif  // include guard
