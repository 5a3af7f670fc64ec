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

// to[c] = sum of the lanes of v[c], c < 4.
#if HWY_TARGET == HWY_SCALAR
template <typename T>
HWY_INLINE void SumLanesOfFour(const Vector<T>* v, T* to) {
  for (int c = 0; c < 4; ++c) to[c] = hn::GetLane(v[c]);
}
#else
template <class D, typename T = hn::TFromD<D> >
HWY_INLINE void SumBlocksOfFour(D d, hn::Vec<D> v, T* to) {
  if constexpr (hn::MaxLanes(D()) <= 4) {
    hn::StoreU(v, d, to);
  } else {
    const hn::Half<D> half;
    SumBlocksOfFour(half, hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v)), to);
  }
}
template <typename T>
HWY_INLINE void SumLanesOfFour(const Vector<T>* v, T* to) {
  const Tag<T> d;
  if constexpr (sizeof(T) == 4) {  // transpose blocks of four while adding
    const hn::Repartition<double, Tag<T> > pairs;
    const auto low = hn::Add(hn::InterleaveLower(d, v[0], v[1]), hn::InterleaveUpper(d, v[0], v[1]));
    const auto high = hn::Add(hn::InterleaveLower(d, v[2], v[3]), hn::InterleaveUpper(d, v[2], v[3]));
    const auto even = hn::InterleaveLower(pairs, hn::BitCast(pairs, low), hn::BitCast(pairs, high));
    const auto odd = hn::InterleaveUpper(pairs, hn::BitCast(pairs, low), hn::BitCast(pairs, high));
    SumBlocksOfFour(d, hn::Add(hn::BitCast(d, even), hn::BitCast(d, odd)), to);
  } else {
    for (int c = 0; c < 4; ++c) to[c] = SumLanes<T>(v[c]);
  }
}
#endif

// out_c = sum over columns of S_column x_c[column], c < kCount;  S: [kColumns, stride], x: [kCount, kColumns],
// out: [kCount, stride]. kWide vectors of K at once.
template <int kCount, int kWide, typename T>
HWY_INLINE void SumColumnsAt(int64_t stride, const T* HWY_RESTRICT S, const T* HWY_RESTRICT x, T* HWY_RESTRICT out) {
  const Tag<T> d;
  const int64_t lanes = LanesOf<T>();
  Vector<T> sum[kCount][kWide];
  LRNN_UNROLL for (int c = 0; c < kCount; ++c) { LRNN_UNROLL for (int j = 0; j < kWide; ++j) sum[c][j] = hn::Zero(d); }
  for (int64_t column = 0; column < kColumns; ++column, S += stride) {
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

// to <- decay from + sum_c x_c f_c^T, transposed, for kWide vectors of K: kCount rows x_c, kRow apart.
//   from, to: [kColumns, stride], f: [kCount, kColumns]; `from` may be `to`.
template <int kCount, int kWide, bool kDecay, typename T>
HWY_INLINE void AddRowsAt(int64_t stride, T decay, const T* HWY_RESTRICT x, const T* HWY_RESTRICT f, const T* from,
                          T* to) {
  const Tag<T> d;
  const int64_t lanes = LanesOf<T>();
  const auto a = hn::Set(d, decay);
  Vector<T> xv[kCount][kWide];
  LRNN_UNROLL for (int c = 0; c < kCount; ++c) {
    LRNN_UNROLL for (int j = 0; j < kWide; ++j) xv[c][j] = hn::Load(d, x + c * kRow + j * lanes);
  }
  for (int64_t column = 0; column < kColumns; ++column, from += stride, to += stride) {
    Vector<T> s[kWide];
    LRNN_UNROLL for (int j = 0; j < kWide; ++j) {
      s[j] = hn::Load(d, from + j * lanes);
      if constexpr (kDecay) s[j] = hn::Mul(a, s[j]);
    }
    LRNN_UNROLL for (int c = 0; c < kCount; ++c) {
      const auto fc = hn::Set(d, f[c * kColumns + column]);
      LRNN_UNROLL for (int j = 0; j < kWide; ++j) s[j] = hn::MulAdd(fc, xv[c][j], s[j]);
    }
    LRNN_UNROLL for (int j = 0; j < kWide; ++j) hn::Store(s[j], d, to + j * lanes);
  }
}

template <int kCount, bool kDecay, typename T>
HWY_INLINE void AddRows(int64_t K, int64_t stride, T decay, const T* HWY_RESTRICT rows, const T* HWY_RESTRICT f,
                        const T* from, T* to) {
  const int64_t lanes = LanesOf<T>();
  for (int64_t first = 0; first < K; first += kPanel, rows += kRows * kRow) {
    const int64_t count = std::min(kPanel, K - first);
    int64_t i = 0;
    for (; i + 2 * lanes <= count; i += 2 * lanes) {
      AddRowsAt<kCount, 2, kDecay>(stride, decay, rows + i, f, from + first + i, to + first + i);
    }
    for (; i < count; i += lanes) {
      AddRowsAt<kCount, 1, kDecay>(stride, decay, rows + i, f, from + first + i, to + first + i);
    }
  }
}

// z_c[column] = G_column . x_c for four rows x_c; z: [4, kColumns].
template <typename T>
HWY_INLINE void DotRows(int64_t K, int64_t stride, const T* HWY_RESTRICT rows, const T* HWY_RESTRICT G,
                        T* HWY_RESTRICT z) {
  const Tag<T> d;
  for (int64_t column = 0; column < kColumns; column += 2, G += 2 * stride) {
    Vector<T> dot[2][4];
    LRNN_UNROLL for (int j = 0; j < 2; ++j) { LRNN_UNROLL for (int c = 0; c < 4; ++c) dot[j][c] = hn::Zero(d); }
    const T* HWY_RESTRICT panel = rows;
    for (int64_t first = 0; first < K; first += kPanel, panel += kRows * kRow) {
      const int64_t count = std::min(kPanel, K - first);
      for (int64_t i = 0; i < count; i += LanesOf<T>()) {
        const auto g0 = hn::Load(d, G + first + i), g1 = hn::Load(d, G + stride + first + i);
        LRNN_UNROLL for (int c = 0; c < 4; ++c) {
          const auto x = hn::Load(d, panel + c * kRow + i);
          dot[0][c] = hn::MulAdd(g0, x, dot[0][c]);
          dot[1][c] = hn::MulAdd(g1, x, dot[1][c]);
        }
      }
    }
    LRNN_UNROLL for (int j = 0; j < 2; ++j) {
      HWY_ALIGN T sums[4];
      SumLanesOfFour<T>(dot[j], sums);
      LRNN_UNROLL for (int c = 0; c < 4; ++c) z[c * kColumns + column + j] = sums[c];
    }
  }
}

// x . y over `size` numbers, a multiple of the lanes.
template <typename T>
HWY_INLINE T Dot(int64_t size, const T* HWY_RESTRICT x, const T* HWY_RESTRICT y) {
  const Tag<T> d;
  auto sum = hn::Zero(d);
  for (int64_t i = 0; i < size; i += LanesOf<T>()) sum = hn::MulAdd(hn::Load(d, x + i), hn::Load(d, y + i), sum);
  return SumLanes<T>(sum);
}

}  // namespace HWY_NAMESPACE
}  // namespace lrnn::kernels
HWY_AFTER_NAMESPACE();
#endif  // include guard
