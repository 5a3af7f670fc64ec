// A sweep of the delta rule's forward pass over a tile of the state, compiled once for each SIMD target.
// docs/math/delta_rule.md derives it.
//
// Lanes run over the columns of S, which evolve independently given (k, beta, decay). Two Householder steps, or four
// where there are registers for them, share one sweep over a tile of columns: a row of S is loaded, updated by each,
// read by the queries after each, read by the keys of the steps of the next sweep, and stored.

#include "lrnn/kernels/delta_rule_chunk-inl.h"

#if defined(LRNN_KERNELS_DELTA_RULE_SWEEP_INL_) == defined(HWY_TARGET_TOGGLE)
#ifdef LRNN_KERNELS_DELTA_RULE_SWEEP_INL_
#undef LRNN_KERNELS_DELTA_RULE_SWEEP_INL_
#else
#define LRNN_KERNELS_DELTA_RULE_SWEEP_INL_
#endif

HWY_BEFORE_NAMESPACE();
namespace lrnn::kernels {
namespace HWY_NAMESPACE {

// A tile of columns is two vectors wide, and so many Householder steps share a sweep: the vectors of their updates and
// of the reads with their queries and with the next keys are 12 of 16 registers, or 24 of 32.
constexpr int kVectors = 2;
constexpr int kSteps = HWY_ARCH_X86 && HWY_TARGET > HWY_AVX3 ? 2 : 4;

// Which steps of a sweep are followed by a read, a bit each.
constexpr int kAllReads = (1 << kSteps) - 1;
constexpr bool ReadsAfter(int reads, int step) { return reads >> step & 1; }
// How many steps before it are.
constexpr int ReadsBefore(int reads, int step) {
  int count = 0;
  for (int c = 0; c < step; ++c) count += ReadsAfter(reads, c);
  return count;
}

// Lines of memory that will be needed: at so many distances from a row.
template <typename T>
struct LinesAhead {
  const T* row;
  const int64_t* distances;
  int64_t count;
};
constexpr int kArraysAhead = 5;

// For each row i of a tile S: [K, tile], and each step c
//   S_i <- S_i + k_ci w_c, then, if the step is read, o_r <- o_r + q_ri S_i for the next r
// and in the end p_c <- p_c + next_ci S_i. Rows of keys and of queries lie `row` apart.
// Between rows the lines ahead are asked for, one at a time: a burst would hold up the loads behind it.
template <int kReads, typename T>
HWY_INLINE void Sweep(int64_t K, const T* HWY_RESTRICT k, const T* HWY_RESTRICT q, const T* HWY_RESTRICT next,
                      int64_t row, const Vector<T> (&w)[kSteps][kVectors], const LinesAhead<T> (&ahead)[kArraysAhead],
                      T* HWY_RESTRICT S, Vector<T> (&o)[kSteps][kVectors], Vector<T> (&p)[kSteps][kVectors]) {
  const Tag<T> d;
  const int64_t lanes = LanesOf<T>();
  LRNN_UNROLL for (int c = 0; c < kSteps; ++c) {
    LRNN_UNROLL for (int j = 0; j < kVectors; ++j) o[c][j] = p[c][j] = hn::Zero(d);
  }
  if (K == 0) return;
  using Row = Vector<T>[kVectors];  // of S
  const auto load = [&](Row& s, int64_t i) HWY_ATTR {
    LRNN_UNROLL for (int j = 0; j < kVectors; ++j) s[j] = hn::Load(d, S + (i * kVectors + j) * lanes);
  };
  const auto update = [&](Row& s, int c, int64_t i) HWY_ATTR {
    const auto x = hn::Set(d, k[c * row + i]);
    LRNN_UNROLL for (int j = 0; j < kVectors; ++j) s[j] = hn::MulAdd(x, w[c][j], s[j]);
  };
  const auto read = [&](const Row& s, int c, int64_t i) HWY_ATTR {
    if (!ReadsAfter(kReads, c)) return;
    const int r = ReadsBefore(kReads, c);
    const auto x = hn::Set(d, q[r * row + i]);
    LRNN_UNROLL for (int j = 0; j < kVectors; ++j) o[r][j] = hn::MulAdd(x, s[j], o[r][j]);
  };
  const auto finish = [&](const Row& s, int64_t i) HWY_ATTR {
    LRNN_UNROLL for (int j = 0; j < kVectors; ++j) hn::Store(s[j], d, S + (i * kVectors + j) * lanes);
    LRNN_UNROLL for (int c = 0; c < kSteps; ++c) {
      const auto x = hn::Set(d, next[c * row + i]);
      LRNN_UNROLL for (int j = 0; j < kVectors; ++j) p[c][j] = hn::MulAdd(x, s[j], p[c][j]);
    }
  };
  // The last two of four steps run a row behind the first two: an update waits for the one before, and would hold up
  // what follows it.
  constexpr bool kBehind = kSteps > 2;
  Row s, above;
  const auto run = [&](int64_t i) HWY_ATTR {
    LRNN_UNROLL for (int j = 0; j < kVectors; ++j) above[j] = s[j];
    load(s, i);
    LRNN_UNROLL for (int c = 0; c < 2; ++c) {
      if constexpr (kBehind) update(above, c + 2, i - 1);
      update(s, c, i);
      if constexpr (kBehind) read(above, c + 2, i - 1);
      read(s, c, i);
    }
    kBehind ? finish(above, i - 1) : finish(s, i);
  };
  int64_t i = 0;
  if constexpr (kBehind) {
    load(s, 0);
    LRNN_UNROLL for (int c = 0; c < 2; ++c) update(s, c, 0), read(s, c, 0);
    i = 1;
  }
  _Pragma("GCC unroll 1") for (const LinesAhead<T>& lines : ahead) {
    int64_t line = 0;
    for (; line < lines.count && i < K; ++line, ++i) {
      __builtin_prefetch(lines.row + lines.distances[line]);
      run(i);
    }
    for (; line < lines.count; ++line) __builtin_prefetch(lines.row + lines.distances[line]);
  }
  for (; i < K; ++i) run(i);
  if constexpr (kBehind) {
    LRNN_UNROLL for (int c = 2; c < kSteps; ++c) update(s, c, K - 1), read(s, c, K - 1);
    finish(s, K - 1);
  }
}

// k_c . k_b for b < c lies at KeyProduct(c, b) of so many numbers.
constexpr int KeyProduct(int c, int b) { return c * (c - 1) / 2 + b; }
constexpr int kKeyProducts = 8;

// The products of kSteps rows of K numbers, `row` apart.
template <typename T>
HWY_INLINE void SetKeyProducts(int64_t K, const T* HWY_RESTRICT k, int64_t row, T* HWY_RESTRICT products) {
  const Tag<T> d;
  const int64_t lanes = LanesOf<T>();
  Vector<T> sum[kKeyProducts];
  LRNN_UNROLL for (int i = 0; i < kKeyProducts; ++i) sum[i] = hn::Zero(d);
  const auto add = [&](auto load) HWY_ATTR {
    Vector<T> x[kSteps];
    LRNN_UNROLL for (int c = 0; c < kSteps; ++c) {
      x[c] = load(k + c * row);
      LRNN_UNROLL for (int b = 0; b < c; ++b) { sum[KeyProduct(c, b)] = hn::MulAdd(x[c], x[b], sum[KeyProduct(c, b)]); }
    }
  };
  int64_t left = K;
  for (; left >= lanes; left -= lanes, k += lanes) add([&](const T* from) HWY_ATTR { return hn::LoadU(d, from); });
  if (left > 0) add([&](const T* from) HWY_ATTR { return LoadSome(from, left); });
  if constexpr (kSteps == 2) {
    products[0] = SumLanes<T>(sum[0]);
  } else {
    SumLanesOfFour<T>(sum, products);
    SumLanesOfFour<T>(sum + 4, products + 4);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace lrnn::kernels
HWY_AFTER_NAMESPACE();
#endif  // include guard
