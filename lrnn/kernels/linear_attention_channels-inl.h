// The triangle of scores of a chunk whose decays differ from channel to channel, and its gradients, compiled once for
// each SIMD target.
//
//   P_ij = sum_c q_ic (a_{j+1} ... a_i)_c k_jc,  j <= i
//
// Four tokens see each other pair by pair. Blocks of 4, 8, 16 tokens see the block after them through the cut between
// the two: with a cut before token m, j < m <= i,
//   a_{j+1} ... a_i = (a_m ... a_i) (a_{j+1} ... a_{m-1}),
// one factor for the query and one for the key, so that their scores are a product of matrices. Every pair is either in
// one block of four or on the two sides of one cut.

#include <algorithm>

#include "lrnn/kernels/decay_products-inl.h"
#include "lrnn/kernels/linear_attention_rows-inl.h"
#include "lrnn/kernels/small_product-inl.h"

#if defined(LRNN_KERNELS_LINEAR_ATTENTION_CHANNELS_INL_) == defined(HWY_TARGET_TOGGLE)
#ifdef LRNN_KERNELS_LINEAR_ATTENTION_CHANNELS_INL_
#undef LRNN_KERNELS_LINEAR_ATTENTION_CHANNELS_INL_
#else
#define LRNN_KERNELS_LINEAR_ATTENTION_CHANNELS_INL_
#endif

HWY_BEFORE_NAMESPACE();
namespace lrnn::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Back through to_i = factor_i x_i, factor_i = a_begin ... a_i (DecayFromBegin):  adds to d_x and d_a. d_last: [width]
// is what else the factor of the last token owes, or null.
template <typename T>
HWY_NOINLINE void BackThroughFromBegin(int64_t begin, int64_t end, int64_t width, const T* HWY_RESTRICT a,
                                       const T* HWY_RESTRICT x, const T* HWY_RESTRICT factor,
                                       const T* HWY_RESTRICT d_to, const T* HWY_RESTRICT d_last, T* HWY_RESTRICT d_x,
                                       T* HWY_RESTRICT d_a) {
  const hn::ScalableTag<T> d;
  for (int64_t c = 0; c < width; c += static_cast<int64_t>(hn::Lanes(d))) {
    auto d_factor = d_last ? hn::Load(d, d_last + c) : hn::Zero(d);
    const int64_t first = begin * width + c;
    const auto step = [&](int64_t at) HWY_ATTR {
      const auto d_to_i = hn::Load(d, d_to + at);
      d_factor = hn::MulAdd(hn::Load(d, x + at), d_to_i, d_factor);
      hn::Store(hn::MulAdd(hn::Load(d, factor + at), d_to_i, hn::Load(d, d_x + at)), d, d_x + at);
    };
    for (int64_t at = (end - 1) * width + c; at > first; at -= width) {
      step(at);
      hn::Store(hn::MulAdd(d_factor, hn::Load(d, factor + at - width), hn::Load(d, d_a + at)), d, d_a + at);
      d_factor = hn::Mul(d_factor, hn::Load(d, a + at));
    }
    step(first);
    hn::Store(hn::Add(d_factor, hn::Load(d, d_a + first)), d, d_a + first);
  }
}

// Back through to_j = factor_j x_j, factor_j = a_{j+1} ... a_{end-1} (DecayToEnd):  adds to d_x and d_a.
template <typename T>
HWY_NOINLINE void BackThroughToEnd(int64_t begin, int64_t end, int64_t width, const T* HWY_RESTRICT a,
                                   const T* HWY_RESTRICT x, const T* HWY_RESTRICT factor, const T* HWY_RESTRICT d_to,
                                   T* HWY_RESTRICT d_x, T* HWY_RESTRICT d_a) {
  const hn::ScalableTag<T> d;
  for (int64_t c = 0; c < width; c += static_cast<int64_t>(hn::Lanes(d))) {
    auto d_factor = hn::Zero(d);
    const int64_t last = (end - 1) * width + c;
    for (int64_t at = begin * width + c; at < last; at += width) {
      const auto d_to_j = hn::Load(d, d_to + at);
      d_factor = hn::MulAdd(hn::Load(d, x + at), d_to_j, d_factor);
      hn::Store(hn::MulAdd(hn::Load(d, factor + at), d_to_j, hn::Load(d, d_x + at)), d, d_x + at);
      const int64_t next = at + width;
      hn::Store(hn::MulAdd(d_factor, hn::Load(d, factor + next), hn::Load(d, d_a + next)), d, d_a + next);
      d_factor = hn::Mul(d_factor, hn::Load(d, a + next));
    }
    hn::Store(hn::Add(hn::Load(d, d_to + last), hn::Load(d, d_x + last)), d, d_x + last);  // its factor is 1
  }
}

template <typename T>
class ChannelScores {
 public:
  // The tokens of a chunk.   q, k, decay: [n, width], rows are whole vectors
  struct Tokens {
    int64_t n, width;
    const T *q, *k, *decay;
    DecayLogs<T> logs;
  };

  ChannelScores(int64_t most_tokens, int64_t width)
      : level_((most_tokens + kBlock) * width),
        scratch_({{&factors_, kLevels * level_}, {&decayed_, kLevels * level_}, {&d_decayed_, level_}}) {}

  // scores: [n, stride], all of the lower triangle; elements right of the diagonal are 0 up to the end of their four.
  template <LinearAttentionForm kForm>
  void Form(const Tokens& t, T* scores, int64_t stride) {
    for (int64_t first = 0; first < t.n; first += kBlock) {
      WithTokens(t.n - first, [&](auto tokens) HWY_ATTR { FormBlock<kForm, tokens>(t, first, scores, stride); });
    }
    ForEachCut(t.n, [&](int64_t begin, int64_t cut, int64_t end, int64_t level) HWY_ATTR {
      T *factors = factors_ + level, *decayed = decayed_ + level;
      DecayToEnd<kForm>(begin, cut, t.width, t.decay, t.logs, t.k, factors, decayed);
      DecayFromBegin<kForm>(cut, end, t.width, t.decay, t.logs, t.q, factors, decayed);
      for (int64_t j = begin; j < cut; j += kBlock) {
        const T* keys = decayed + j * t.width;
        int64_t i = cut;
        for (; i + 2 <= end; i += 2) {
          DotRows<2>(t.width, decayed + i * t.width, keys, scores + i * stride + j, stride);
        }
        if (i < end) DotRows<1>(t.width, decayed + i * t.width, keys, scores + i * stride + j, stride);
      }
    });
  }

  // After Form: gradients of q, k and the decays from d_scores: [n, stride], whose upper triangle is not read.
  // d_q, d_k, d_decay: [n, width], all written.
  template <LinearAttentionForm kForm>
  void Back(const Tokens& t, const T* d_scores, int64_t stride, T* d_q, T* d_k, T* d_decay) {
    const int64_t width = t.width;
    for (int64_t first = 0; first < t.n; first += kBlock) {
      WithTokens(t.n - first, [&](auto tokens) HWY_ATTR {
        BackThroughBlock<kForm, tokens>(t, first, d_scores, stride, d_q, d_k, d_decay);
      });
    }
    ForEachCut(t.n, [&](int64_t begin, int64_t cut, int64_t end, int64_t level) HWY_ATTR {
      const T *factors = factors_ + level, *decayed = decayed_ + level;
      const T* block = d_scores + cut * stride + begin;
      const int64_t keys = begin * width, queries = cut * width;
      Product<ProductStart::kZero, false>(ProductPart::kFull, end - cut, width, cut - begin, block, stride,
                                          decayed + keys, width, d_decayed_ + queries, width);
      Product<ProductStart::kZero, true>(ProductPart::kFull, cut - begin, width, end - cut, block, stride,
                                         decayed + queries, width, d_decayed_ + keys, width);
      BackThroughToEnd(begin, cut, width, t.decay, t.k, factors, d_decayed_, d_k, d_decay);
      BackThroughFromBegin<T>(cut, end, width, t.decay, t.q, factors, d_decayed_, nullptr, d_q, d_decay);
    });
  }

 private:
  static constexpr int64_t kBlock = 4;
  static constexpr int64_t kLevels = 3;  // cuts between blocks of 4, 8 and 16 tokens

  // Calls body(begin, cut, end, where the rows of blocks of this size start).
  template <typename Body>
  HWY_INLINE void ForEachCut(int64_t n, const Body& body) const {
    int64_t level = 0;
    for (int64_t size = kBlock; size < n; size *= 2, level += level_) {
      for (int64_t begin = 0; begin + size < n; begin += 2 * size) {
        body(begin, begin + size, std::min(n, begin + 2 * size), level);
      }
    }
  }

  // to[r][j] = x_r . y_j over `width` numbers, j < 4.   x: [kRows, width]   y: [4, width]
  template <int kRows>
  static HWY_INLINE void DotRows(int64_t width, const T* HWY_RESTRICT x, const T* HWY_RESTRICT y, T* HWY_RESTRICT to,
                                 int64_t stride) {
    const hn::ScalableTag<T> d;
    hn::Vec<hn::ScalableTag<T>> sum[kRows][kBlock];
    LRNN_UNROLL_ROWS for (int r = 0; r < kRows; ++r) {
      LRNN_UNROLL_ROWS for (int j = 0; j < kBlock; ++j) sum[r][j] = hn::Zero(d);
    }
    for (int64_t c = 0; c < width; c += static_cast<int64_t>(hn::Lanes(d))) {
      LRNN_UNROLL_ROWS for (int j = 0; j < kBlock; ++j) {
        const auto key = hn::Load(d, y + j * width + c);
        LRNN_UNROLL_ROWS for (int r = 0; r < kRows; ++r) {
          sum[r][j] = hn::MulAdd(hn::Load(d, x + r * width + c), key, sum[r][j]);
        }
      }
    }
    LRNN_UNROLL_ROWS for (int r = 0; r < kRows; ++r) SumLanesOfFour<T>(sum[r], to + r * stride);
  }

  // Scores of kTokens <= 4 tokens among themselves.
  template <LinearAttentionForm kForm, int kTokens>
  static HWY_INLINE void FormBlock(const Tokens& t, int64_t first, T* HWY_RESTRICT scores, int64_t stride) {
    const hn::ScalableTag<T> d;
    const int64_t width = t.width, begin = first * width;
    const DecayLogs<T> logs = t.logs;
    const T *HWY_RESTRICT q = t.q, *HWY_RESTRICT k = t.k, *HWY_RESTRICT a = t.decay;
    hn::Vec<hn::ScalableTag<T>> sum[kTokens][kBlock];
    LRNN_UNROLL_ROWS for (int i = 0; i < kTokens; ++i) {
      LRNN_UNROLL_ROWS for (int j = 0; j < kBlock; ++j) sum[i][j] = hn::Zero(d);
    }
    for (int64_t c = begin; c < begin + width; c += static_cast<int64_t>(hn::Lanes(d))) {
      LRNN_UNROLL_ROWS for (int j = 0; j < kTokens; ++j) {
        const auto key = hn::Load(d, k + c + j * width);
        DecayingKey<kForm, T> decaying(key, logs, c + j * width);
        sum[j][j] = hn::MulAdd(hn::Load(d, q + c + j * width), key, sum[j][j]);
        LRNN_UNROLL_ROWS for (int i = j + 1; i < kTokens; ++i) {
          const auto x = decaying.Next(a, logs, c + i * width);
          sum[i][j] = hn::MulAdd(hn::Load(d, q + c + i * width), x, sum[i][j]);
        }
      }
    }
    LRNN_UNROLL_ROWS for (int i = 0; i < kTokens; ++i) {
      SumLanesOfFour<T>(sum[i], scores + (first + i) * stride + first);
    }
  }

  // Column j of a block is dot products of queries with what is left of key j:  x_j = k_j,  x_i = a_i x_{i-1},
  // P_ij = q_i.x_i.
  template <LinearAttentionForm kForm, int kTokens>
  static HWY_INLINE void BackThroughBlock(const Tokens& t, int64_t first, const T* HWY_RESTRICT d_scores,
                                          int64_t stride, T* HWY_RESTRICT d_q, T* HWY_RESTRICT d_k,
                                          T* HWY_RESTRICT d_decay) {
    const hn::ScalableTag<T> d;
    using V = hn::Vec<hn::ScalableTag<T>>;
    const int64_t width = t.width, begin = first * width;
    const DecayLogs<T> logs = t.logs;
    const T *HWY_RESTRICT q = t.q, *HWY_RESTRICT k = t.k, *HWY_RESTRICT a = t.decay;
    const T* HWY_RESTRICT block = d_scores + first * stride + first;
    const auto d_score = [&](int i, int j) HWY_ATTR { return hn::Set(d, block[i * stride + j]); };
    for (int64_t c = begin; c < begin + width; c += static_cast<int64_t>(hn::Lanes(d))) {
      V x[kTokens], d_query[kTokens], d_a[kTokens];
      LRNN_UNROLL_ROWS for (int i = 0; i < kTokens; ++i) d_query[i] = d_a[i] = hn::Zero(d);
      LRNN_UNROLL_ROWS for (int j = 0; j < kTokens; ++j) {
        x[j] = hn::Load(d, k + c + j * width);
        DecayingKey<kForm, T> decaying(x[j], logs, c + j * width);
        LRNN_UNROLL_ROWS for (int i = j + 1; i < kTokens; ++i) x[i] = decaying.Next(a, logs, c + i * width);
        V d_x = hn::Zero(d);
        LRNN_UNROLL_ROWS for (int i = kTokens - 1; i >= j; --i) {
          const auto d_score_ij = d_score(i, j);
          d_x = hn::MulAdd(d_score_ij, hn::Load(d, q + c + i * width), d_x);
          d_query[i] = hn::MulAdd(d_score_ij, x[i], d_query[i]);
          if (i == j) break;
          d_a[i] = hn::MulAdd(d_x, x[i - 1], d_a[i]);
          d_x = hn::Mul(d_x, hn::Load(d, a + c + i * width));
        }
        hn::Store(d_x, d, d_k + c + j * width);
      }
      LRNN_UNROLL_ROWS for (int i = 0; i < kTokens; ++i) {
        hn::Store(d_query[i], d, d_q + c + i * width);
        hn::Store(d_a[i], d, d_decay + c + i * width);
      }
    }
  }

  const int64_t level_;  // numbers a level
  ChunkScratch<T> scratch_;
  T* factors_;    // [levels, n, width] decays of queries from the cut before their block, of keys to the one after it
  T* decayed_;    // [levels, n, width] those queries and keys
  T* d_decayed_;  // [n, width]
};

}  // namespace HWY_NAMESPACE
}  // namespace lrnn::kernels
HWY_AFTER_NAMESPACE();
#endif  // include guard
