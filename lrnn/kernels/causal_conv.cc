// The SIMD code below knows neither sequences nor states: it filters rows given by their addresses. Where a window
// reaches back before a sequence, those are rows of its state, or a row of zeros.
#include "lrnn/kernels/causal_conv.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "lrnn/kernels/parallel_tasks.h"

#ifndef LRNN_KERNELS_CAUSAL_CONV_FILTER
#define LRNN_KERNELS_CAUSAL_CONV_FILTER
namespace lrnn::kernels {
// p[r] = bias + sum_w taps[w] x[r + w] for r = 0 .. rows-1, in each of `channels` columns; then SiLU if wanted. x[i] is
// what lies from column `first` on in the row at x_rows[i].
template <typename T>
struct Filter {
  int64_t W;
  int64_t channels;
  const T* taps;  // [W, channels]
  int64_t tap_stride;
  const T* bias;  // [channels], null: none
  bool silu;
  const T* const* x_rows;  // [rows + W-1]
  int64_t first;
  int64_t rows;
};
}  // namespace lrnn::kernels
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lrnn/kernels/causal_conv.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "lrnn/kernels/sigmoid-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lrnn::kernels {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// p of kRows (1 or 4) rows from r on, at columns c .. c + N-1. Four rows share the taps, and with a constant width kW
// (0: any) also the loads of x.
template <int kW, int kRows, class D, class V = hn::Vec<D>, typename T = hn::TFromD<D>>
HWY_INLINE void Convolve(D d, const Filter<T>& f, int64_t r, int64_t c, V& p0, V& p1, V& p2, V& p3) {
  const int64_t W = kW != 0 ? kW : f.W;
  const T* const* x = f.x_rows + r;
  const int64_t at = f.first + c;
  p0 = f.bias != nullptr ? hn::LoadU(d, f.bias + c) : hn::Zero(d);
  p1 = p2 = p3 = p0;
#pragma GCC unroll 4
  for (int64_t w = 0; w < W; ++w) {
    const V tap = hn::LoadU(d, f.taps + w * f.tap_stride + c);
    p0 = hn::MulAdd(tap, hn::LoadU(d, x[w] + at), p0);
    if constexpr (kRows == 4) {
      p1 = hn::MulAdd(tap, hn::LoadU(d, x[w + 1] + at), p1);
      p2 = hn::MulAdd(tap, hn::LoadU(d, x[w + 2] + at), p2);
      p3 = hn::MulAdd(tap, hn::LoadU(d, x[w + 3] + at), p3);
    }
  }
}

template <int kW, int kRows, class D, typename T = hn::TFromD<D>>
HWY_INLINE int64_t FilterRows(D d, const Filter<T>& f, int64_t r, int64_t c, T* y, int64_t y_stride) {
  using V = hn::Vec<D>;
  const int64_t N = hn::Lanes(d);
  T* out = y + r * y_stride;
  for (; c + N <= f.channels; c += N) {
    V p0, p1, p2, p3;
    Convolve<kW, kRows>(d, f, r, c, p0, p1, p2, p3);
    if (f.silu) {
      p0 = Silu(d, p0);
      if constexpr (kRows == 4) {
        p1 = Silu(d, p1);
        p2 = Silu(d, p2);
        p3 = Silu(d, p3);
      }
    }
    hn::StoreU(p0, d, out + c);
    if constexpr (kRows == 4) {
      hn::StoreU(p1, d, out + y_stride + c);
      hn::StoreU(p2, d, out + 2 * y_stride + c);
      hn::StoreU(p3, d, out + 3 * y_stride + c);
    }
  }
  return c;
}

template <int kW, typename T>
HWY_INLINE void FilterAll(const Filter<T>& f, T* y, int64_t y_stride) {
  const hn::ScalableTag<T> d;
  int64_t c = 0;  // the first column that is not part of a whole vector
  int64_t r = 0;
  for (; r + 4 <= f.rows; r += 4) c = FilterRows<kW, 4>(d, f, r, 0, y, y_stride);
  for (; r < f.rows; ++r) c = FilterRows<kW, 1>(d, f, r, 0, y, y_stride);
  if (c == f.channels) return;
  for (r = 0; r < f.rows; ++r) FilterRows<0, 1>(hn::CappedTag<T, 1>(), f, r, c, y, y_stride);
}

// dp = dy * (d silu / d p), stored; and, unless sums is null, sums[w] += dp x[r + w], sums[W] += dp.
template <int kW, int kRows, class D, typename T = hn::TFromD<D>>
HWY_INLINE int64_t GradientRows(D d, const Filter<T>& f, int64_t r, int64_t c, const T* dy, int64_t dy_stride, T* dp,
                                int64_t dp_stride, T* sums, int64_t sums_stride) {
  using V = hn::Vec<D>;
  const int64_t W = kW != 0 ? kW : f.W;
  const int64_t N = hn::Lanes(d);
  dy += r * dy_stride;
  dp += r * dp_stride;
  for (; c + N <= f.channels; c += N) {
    V g0 = hn::LoadU(d, dy + c);
    V g1 = g0, g2 = g0, g3 = g0;
    if constexpr (kRows == 4) {
      g1 = hn::LoadU(d, dy + dy_stride + c);
      g2 = hn::LoadU(d, dy + 2 * dy_stride + c);
      g3 = hn::LoadU(d, dy + 3 * dy_stride + c);
    }
    if (f.silu) {
      V p0, p1, p2, p3;
      Convolve<kW, kRows>(d, f, r, c, p0, p1, p2, p3);
      g0 = hn::Mul(g0, SiluDerivative(d, p0));
      if constexpr (kRows == 4) {
        g1 = hn::Mul(g1, SiluDerivative(d, p1));
        g2 = hn::Mul(g2, SiluDerivative(d, p2));
        g3 = hn::Mul(g3, SiluDerivative(d, p3));
      }
    }
    hn::StoreU(g0, d, dp + c);
    if constexpr (kRows == 4) {
      hn::StoreU(g1, d, dp + dp_stride + c);
      hn::StoreU(g2, d, dp + 2 * dp_stride + c);
      hn::StoreU(g3, d, dp + 3 * dp_stride + c);
    }
    if (sums == nullptr) continue;
    const T* const* x = f.x_rows + r;
    const int64_t at = f.first + c;
#pragma GCC unroll 4
    for (int64_t w = 0; w < W; ++w) {
      V sum = hn::MulAdd(g0, hn::LoadU(d, x[w] + at), hn::LoadU(d, sums + w * sums_stride + c));
      if constexpr (kRows == 4) {
        sum = hn::MulAdd(g1, hn::LoadU(d, x[w + 1] + at), sum);
        sum = hn::MulAdd(g2, hn::LoadU(d, x[w + 2] + at), sum);
        sum = hn::MulAdd(g3, hn::LoadU(d, x[w + 3] + at), sum);
      }
      hn::StoreU(sum, d, sums + w * sums_stride + c);
    }
    V sum = hn::Add(g0, hn::LoadU(d, sums + W * sums_stride + c));
    if constexpr (kRows == 4) sum = hn::Add(hn::Add(sum, g1), hn::Add(g2, g3));
    hn::StoreU(sum, d, sums + W * sums_stride + c);
  }
  return c;
}

template <int kW, typename T>
HWY_INLINE void GradientAll(const Filter<T>& f, const T* dy, int64_t dy_stride, T* dp, int64_t dp_stride, T* sums,
                            int64_t sums_stride) {
  const hn::ScalableTag<T> d;
  int64_t c = 0;
  int64_t r = 0;
  for (; r + 4 <= f.rows; r += 4) {
    c = GradientRows<kW, 4>(d, f, r, 0, dy, dy_stride, dp, dp_stride, sums, sums_stride);
  }
  for (; r < f.rows; ++r) c = GradientRows<kW, 1>(d, f, r, 0, dy, dy_stride, dp, dp_stride, sums, sums_stride);
  if (c == f.channels) return;
  for (r = 0; r < f.rows; ++r) {
    GradientRows<0, 1>(hn::CappedTag<T, 1>(), f, r, c, dy, dy_stride, dp, dp_stride, sums, sums_stride);
  }
}

#define LRNN_FOR_WIDTH(W, CALL, ...) \
  switch (W) {                       \
    case 1:                          \
      return CALL<1>(__VA_ARGS__);   \
    case 4:                          \
      return CALL<4>(__VA_ARGS__);   \
    default:                         \
      return CALL<0>(__VA_ARGS__);   \
  }

void FilterFloat(const Filter<float>& f, float* y, int64_t y_stride) { LRNN_FOR_WIDTH(f.W, FilterAll, f, y, y_stride) }
void FilterDouble(const Filter<double>& f, double* y, int64_t y_stride) {
  LRNN_FOR_WIDTH(f.W, FilterAll, f, y, y_stride)
}
void GradientFloat(const Filter<float>& f, const float* dy, int64_t dy_stride, float* dp, int64_t dp_stride,
                   float* sums, int64_t sums_stride) {
  LRNN_FOR_WIDTH(f.W, GradientAll, f, dy, dy_stride, dp, dp_stride, sums, sums_stride)
}
void GradientDouble(const Filter<double>& f, const double* dy, int64_t dy_stride, double* dp, int64_t dp_stride,
                    double* sums, int64_t sums_stride) {
  LRNN_FOR_WIDTH(f.W, GradientAll, f, dy, dy_stride, dp, dp_stride, sums, sums_stride)
}

#undef LRNN_FOR_WIDTH

}  // namespace HWY_NAMESPACE
}  // namespace lrnn::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lrnn::kernels {

HWY_EXPORT(FilterFloat);
HWY_EXPORT(FilterDouble);
HWY_EXPORT(GradientFloat);
HWY_EXPORT(GradientDouble);

namespace {

void RunFilter(const Filter<float>& f, float* y, int64_t y_stride) {
  HWY_DYNAMIC_DISPATCH(FilterFloat)(f, y, y_stride);
}
void RunFilter(const Filter<double>& f, double* y, int64_t y_stride) {
  HWY_DYNAMIC_DISPATCH(FilterDouble)(f, y, y_stride);
}
void RunGradient(const Filter<float>& f, const float* dy, int64_t dy_stride, float* dp, int64_t dp_stride, float* sums,
                 int64_t sums_stride) {
  HWY_DYNAMIC_DISPATCH(GradientFloat)(f, dy, dy_stride, dp, dp_stride, sums, sums_stride);
}
void RunGradient(const Filter<double>& f, const double* dy, int64_t dy_stride, double* dp, int64_t dp_stride,
                 double* sums, int64_t sums_stride) {
  HWY_DYNAMIC_DISPATCH(GradientDouble)(f, dy, dy_stride, dp, dp_stride, sums, sums_stride);
}

// Work is cut into tiles of rows x channels, by the shape alone: 64 KiB of floats, which stay in the L2 cache.
constexpr int64_t kTileRows = 128;
constexpr int64_t kTileChannels = 128;

// Calls body(row tile, t0, t1, c0, c1).
template <typename T, typename Body>
void ForTiles(const CausalConvInput<T>& in, int threads, const Body& body) {
  const int64_t tokens = in.cu_seqlens[in.S];
  const int64_t row_tiles = (tokens + kTileRows - 1) / kTileRows;
  const int64_t channel_tiles = (in.D + kTileChannels - 1) / kTileChannels;
  ParallelTasks(row_tiles * channel_tiles, threads, [&](int64_t i) {
    const int64_t row = i / channel_tiles;
    const int64_t t0 = row * kTileRows;
    const int64_t c0 = (i % channel_tiles) * kTileChannels;
    body(row, t0, std::min(tokens, t0 + kTileRows), c0, std::min(in.D, c0 + kTileChannels));
  });
}

// Calls body(s, begin, L, a, b) for each sequence of rows begin .. begin+L-1 that has rows in t0 .. t1-1: those are its
// tokens a .. b-1.
template <typename Body>
void ForSequences(const int32_t* cu_seqlens, int64_t S, int64_t t0, int64_t t1, const Body& body) {
  const int32_t* next = std::upper_bound(cu_seqlens, cu_seqlens + S + 1, t0);  // the first end after t0
  for (int64_t s = next - cu_seqlens - 1; s < S && cu_seqlens[s] < t1; ++s) {
    const int64_t begin = cu_seqlens[s];
    const int64_t end = cu_seqlens[s + 1];
    if (begin < end) body(s, begin, end - begin, std::max(t0, begin) - begin, std::min(t1, end) - begin);
  }
}

// The weight as [W, D], so that vectors of channels are contiguous.
template <typename T>
std::unique_ptr<T[]> Transposed(const CausalConvInput<T>& in) {
  auto taps = std::make_unique_for_overwrite<T[]>(in.W * in.D);
  for (int64_t w = 0; w < in.W; ++w) {
    for (int64_t d = 0; d < in.D; ++d) taps[w * in.D + d] = in.weight[d * in.W + w];
  }
  return taps;
}

// A row before the sequence (t < 0) or of it; null stands for zeros.
template <typename T>
const T* InputRow(const CausalConvInput<T>& in, int64_t s, int64_t t) {
  if (t >= 0) return in.x + (in.cu_seqlens[s] + t) * in.x_stride;
  return in.initial_state != nullptr ? in.initial_state + (s * (in.W - 1) + in.W - 1 + t) * in.D : nullptr;
}

template <typename T>
void CopyRow(const T* from, int64_t n, T* to) {
  if (from == nullptr) {
    std::fill(to, to + n, T{0});
  } else if (from != to) {
    std::memcpy(to, from, n * sizeof(T));
  }
}

// Filters channels c0 .. c1-1 of tokens of one sequence.
template <typename T>
class SequenceFilter {
 public:
  SequenceFilter(const CausalConvInput<T>& in, const T* taps, int64_t c0, int64_t c1)
      : in_(in), zeros_(c1), rows_(kTileRows + 2 * (in.W - 1)) {
    filter_ = {.W = in.W,
               .channels = c1 - c0,
               .taps = taps + c0,
               .tap_stride = in.D,
               .bias = in.bias != nullptr ? in.bias + c0 : nullptr,
               .silu = in.silu,
               .x_rows = rows_.data(),
               .first = c0,
               .rows = 0};
  }

  // The filter for tokens a .. b-1 of sequence s, valid until the next call.
  const Filter<T>& operator()(int64_t s, int64_t a, int64_t b) {
    const int64_t before = a - (in_.W - 1);
    for (int64_t t = before; t < b; ++t) {
      const T* row = InputRow(in_, s, t);
      rows_[t - before] = row != nullptr ? row : zeros_.data();
    }
    filter_.rows = b - a;
    return filter_;
  }

 private:
  const CausalConvInput<T>& in_;
  std::vector<T> zeros_;
  std::vector<const T*> rows_;
  Filter<T> filter_;
};

template <typename T>
void Forward(const CausalConvInput<T>& in, T* y, T* final_state, int threads) {
  const int64_t history = in.W - 1;
  const auto taps = Transposed(in);
  ForTiles(in, threads, [&](int64_t, int64_t t0, int64_t t1, int64_t c0, int64_t c1) {
    SequenceFilter<T> filter(in, taps.get(), c0, c1);
    ForSequences(in.cu_seqlens, in.S, t0, t1, [&](int64_t s, int64_t begin, int64_t, int64_t a, int64_t b) {
      RunFilter(filter(s, a, b), y + (begin + a) * in.D + c0, in.D);
    });
  });
  if (final_state == nullptr || history == 0) return;
  // After all outputs, as final_state may be initial_state. Rows are read before they are overwritten: row j becomes
  // what row j + L was, or an input.
  for (int64_t s = 0; s < in.S; ++s) {
    const int64_t L = in.cu_seqlens[s + 1] - in.cu_seqlens[s];
    for (int64_t j = 0; j < history; ++j) {
      CopyRow(InputRow(in, s, L - history + j), in.D, final_state + (s * history + j) * in.D);
    }
  }
}

// Adds dfinal to the gradients of the inputs it is a copy of: row j is token L - (W-1) + j, or an initial state.
// Tokens a .. b-1 and, if a = 0, the initial state.
template <typename T>
void AddFinal(const CausalConvInput<T>& in, const T* dfinal, const CausalConvGradients<T>& out, int64_t s, int64_t a,
              int64_t b, int64_t c0, int64_t c1) {
  const int64_t history = in.W - 1;
  const int64_t begin = in.cu_seqlens[s];
  const int64_t L = in.cu_seqlens[s + 1] - begin;
  for (int64_t j = 0; j < history; ++j) {
    const int64_t t = L - history + j;
    T* to = nullptr;
    if (t >= a && t < b) to = out.dx + (begin + t) * in.D;
    if (t < 0 && a == 0 && out.dinitial != nullptr) to = out.dinitial + (s * history + history + t) * in.D;
    if (to == nullptr) continue;
    const T* from = dfinal + (s * history + j) * in.D;
    for (int64_t c = c0; c < c1; ++c) to[c] += from[c];
  }
}

// dweight and dbias from their partial sums [row tiles, W+1, D], added in the order of the tiles.
template <typename T>
void AddPartialSums(const CausalConvInput<T>& in, const std::vector<T>& partial, int64_t row_tiles,
                    const CausalConvGradients<T>& out, int threads) {
  ParallelTasks(in.W + 1, threads, [&](int64_t w) {
    std::vector<T> sum(in.D, T{0});
    for (int64_t tile = 0; tile < row_tiles; ++tile) {
      const T* row = partial.data() + (tile * (in.W + 1) + w) * in.D;
      for (int64_t d = 0; d < in.D; ++d) sum[d] += row[d];
    }
    if (w < in.W && out.dweight != nullptr) {
      for (int64_t d = 0; d < in.D; ++d) out.dweight[d * in.W + w] = sum[d];
    }
    if (w == in.W && out.dbias != nullptr) std::copy(sum.begin(), sum.end(), out.dbias);
  });
}

template <typename T>
void Backward(const CausalConvInput<T>& in, const T* dy, int64_t dy_stride, const T* dfinal,
              const CausalConvGradients<T>& out, int threads) {
  const int64_t history = in.W - 1;
  const auto taps = Transposed(in);
  auto reversed = std::make_unique_for_overwrite<T[]>(in.W * in.D);
  for (int64_t w = 0; w < in.W; ++w) {
    std::copy_n(taps.get() + (history - w) * in.D, in.D, reversed.get() + w * in.D);
  }

  const bool want_sums = out.dweight != nullptr || out.dbias != nullptr;
  const int64_t row_tiles = (in.cu_seqlens[in.S] + kTileRows - 1) / kTileRows;
  std::vector<T> partial(want_sums ? row_tiles * (in.W + 1) * in.D : 0);  // [row tiles, W+1, D], zeros

  ForTiles(in, threads, [&](int64_t tile, int64_t t0, int64_t t1, int64_t c0, int64_t c1) {
    const int64_t channels = c1 - c0;
    SequenceFilter<T> filter(in, taps.get(), c0, c1);
    const auto buffer = std::make_unique_for_overwrite<T[]>((t1 - t0 + history) * channels);
    const std::vector<T> zeros(channels);
    std::vector<const T*> rows(t1 - t0 + 2 * history);
    Filter<T> back = {.W = in.W,
                      .channels = channels,
                      .taps = reversed.get() + c0,
                      .tap_stride = in.D,
                      .bias = nullptr,
                      .silu = false,
                      .x_rows = nullptr,
                      .first = 0,
                      .rows = 0};
    T* sums = want_sums ? partial.data() + tile * (in.W + 1) * in.D + c0 : nullptr;

    ForSequences(in.cu_seqlens, in.S, t0, t1, [&](int64_t s, int64_t begin, int64_t L, int64_t a, int64_t b) {
      // dp of tokens a .. b + (W-1) - 1 in the rows of `buffer`. Those from b on belong to other tiles; after the end,
      // and before the start, they are zeros.
      const int64_t known = std::min(b + history, L);
      const auto gradient = [&](int64_t from, int64_t to, T* to_sums) {
        RunGradient(filter(s, from, to), dy + (begin + from) * dy_stride + c0, dy_stride,
                    buffer.get() + (from - a) * channels, channels, to_sums, in.D);
      };
      gradient(a, b, sums);
      gradient(b, known, nullptr);
      for (int64_t i = 0; i < b - a + 2 * history; ++i) {
        const int64_t t = a - history + i;
        rows[i] = t >= a && t < known ? buffer.get() + (t - a) * channels : zeros.data();
      }

      // dx_t = sum_w weight[W-1-w] dp_{t+w}: the same filter with the taps reversed, looking ahead.
      back.x_rows = rows.data() + history;
      back.rows = b - a;
      RunFilter(back, out.dx + (begin + a) * in.D + c0, in.D);
      if (a == 0 && history > 0 && out.dinitial != nullptr) {
        back.x_rows = rows.data();
        back.rows = history;
        RunFilter(back, out.dinitial + s * history * in.D + c0, in.D);
      }
      if (dfinal != nullptr) AddFinal(in, dfinal, out, s, a, b, c0, c1);
    });
  });

  if (out.dinitial != nullptr) {
    for (int64_t s = 0; s < in.S; ++s) {  // an empty sequence passes its state on
      if (in.cu_seqlens[s] != in.cu_seqlens[s + 1]) continue;
      const int64_t offset = s * history * in.D;
      CopyRow(dfinal != nullptr ? dfinal + offset : nullptr, history * in.D, out.dinitial + offset);
    }
  }
  if (want_sums) AddPartialSums(in, partial, row_tiles, out, threads);
}

}  // namespace

void CausalConv(const CausalConvInput<float>& input, float* y, float* final_state, int threads) {
  Forward(input, y, final_state, threads);
}

void CausalConv(const CausalConvInput<double>& input, double* y, double* final_state, int threads) {
  Forward(input, y, final_state, threads);
}

void CausalConvBackward(const CausalConvInput<float>& input, const float* dy, int64_t dy_stride, const float* dfinal,
                        const CausalConvGradients<float>& gradients, int threads) {
  Backward(input, dy, dy_stride, dfinal, gradients, threads);
}

void CausalConvBackward(const CausalConvInput<double>& input, const double* dy, int64_t dy_stride, const double* dfinal,
                        const CausalConvGradients<double>& gradients, int threads) {
  Backward(input, dy, dy_stride, dfinal, gradients, threads);
}

}  // namespace lrnn::kernels
#endif  // HWY_ONCE
