// The triangle of scores of a chunk whose decays differ from channel to channel, compiled once for each SIMD target.
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

// The tokens of a chunk.   q, k, decay: [n, width], rows are whole vectors
template <typename T>
struct ChannelTokens {
  int64_t n, width;
  const T *q, *k, *decay;
  DecayLogs<T> logs;
};

template <typename T>
class ChannelScores {
 public:
  using Tokens = ChannelTokens<T>;

  ChannelScores(int64_t most_tokens, int64_t width)
      : level_((most_tokens + kBlock) * width),
        scratch_({{&factors_, kLevels * level_}, {&decayed_, kLevels * level_}}) {}

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

  const int64_t level_;  // numbers a level
  ChunkScratch<T> scratch_;
  T* factors_;  // [levels, n, width] decays of queries from the cut before their block, of keys to the one after it
  T* decayed_;  // [levels, n, width] those queries and keys
};

}  // namespace HWY_NAMESPACE
}  // namespace lrnn::kernels
HWY_AFTER_NAMESPACE();
#endif  // include guard
