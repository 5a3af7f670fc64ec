// Gradients of q, k and the decays of a chunk whose decays differ from channel to channel, compiled once for each SIMD
// target.
//
// Let S_t be the state after token t, D_t the gradient of it, r_i = scale d_o_i and dP_ij = r_i . v_j. In each channel
//
//   dq_t = <r_t, S_t>        dk_t = <D_t, v_t>        da_t = <D_t, S_{t-1}>
//
// are inner products over the value columns, and the states need not be formed to take them: with S_t = a_t S_{t-1} +
// k_t v_t and D_t = a_{t+1} D_{t+1} + q_t r_t,
//
//   <r_i, S_t> = a_t <r_i, S_{t-1}> + k_t dP_it        <D_t, v_j> = a_{t+1} <D_{t+1}, v_j> + q_t dP_tj
//
// carry them from token to token. Inside a block of 8 tokens that is done in registers; from block to block by products
// of matrices, with the decays of whole blocks.

#include <algorithm>

#include "lrnn/kernels/decay_products-inl.h"
#include "lrnn/kernels/linear_attention_channels-inl.h"
#include "lrnn/kernels/linear_attention_rows-inl.h"
#include "lrnn/kernels/small_product-inl.h"

#if defined(LRNN_KERNELS_LINEAR_ATTENTION_CHANNEL_GRADIENTS_INL_) == defined(HWY_TARGET_TOGGLE)
#ifdef LRNN_KERNELS_LINEAR_ATTENTION_CHANNEL_GRADIENTS_INL_
#undef LRNN_KERNELS_LINEAR_ATTENTION_CHANNEL_GRADIENTS_INL_
#else
#define LRNN_KERNELS_LINEAR_ATTENTION_CHANNEL_GRADIENTS_INL_
#endif

HWY_BEFORE_NAMESPACE();
namespace lrnn::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <typename T>
class ChannelGradients {
 public:
  ChannelGradients(int64_t most_tokens, int64_t width)
      : scratch_({{&factors_, most_tokens * width},
                  {&decayed_q_, most_tokens * width},
                  {&decayed_k_, most_tokens * width},
                  {&block_decay_, (most_tokens + kBlock - 1) / kBlock * width},
                  {&inner_, (most_tokens + kBlock - 1) / kBlock * width}}) {}

  // d_scores: [n, stride], dP; its upper triangle is not read.   d_q, d_k, d_decay: [n, width]
  // With S the state before the chunk and G the gradient of that after it: on entry d_q_i = <r_i, S>, d_k_j = <G, v_j>,
  // and state_inner: [width] = <G, S>, or null for 0. On exit the gradients.
  void Run(const ChannelTokens<T>& t, const T* d_scores, int64_t stride, const T* state_inner, T* d_q, T* d_k,
           T* d_decay) {
    const int64_t blocks = (t.n + kBlock - 1) / kBlock, width = t.width;
    for (int64_t b = 0; b < blocks && blocks > 1; ++b) DecayBlock(t, b);
    // Blocks from the last to the first:  d_k_j = <D, v_j> for D after the block, whose inner product with the state
    // before the chunk is carried in the inner product of the block before.
    T* last = inner_ + (blocks - 1) * width;
    state_inner ? std::copy_n(state_inner, width, last) : std::fill_n(last, width, T{0});
    for (int64_t b = blocks - 1; b > 0; --b) {
      const int64_t begin = b * kBlock, end = std::min(t.n, begin + kBlock);
      const T* decay = block_decay_ + b * width;
      std::copy_n(inner_ + b * width, width, inner_ + (b - 1) * width);
      Carry(width, decay, end - begin, decayed_q_ + begin * width, d_q + begin * width, inner_ + (b - 1) * width);
      for (int64_t x = 0; x < b; ++x) {  // the state goes from before the chunk to before the block
        const int64_t first = x * kBlock * width;
        Carry(width, block_decay_ + x * width, kBlock, decayed_k_ + first, d_k + first, inner_ + b * width);
      }
      ScaleColumns(begin, width, decay, d_k);
      Product<ProductStart::kAdd, true>(ProductPart::kFull, begin, width, end - begin, d_scores + begin * stride,
                                        stride, decayed_q_ + begin * width, width, d_k, width);
    }
    // Blocks from the first to the last:  d_q_i = <r_i, S> for S before the block.
    for (int64_t b = 0; b < blocks; ++b) {
      const int64_t begin = b * kBlock, end = begin + kBlock;
      if (end < t.n) {
        ScaleColumns(t.n - end, width, block_decay_ + b * width, d_q + end * width);
        Product<ProductStart::kAdd, false>(ProductPart::kFull, t.n - end, width, kBlock,
                                           d_scores + end * stride + begin, stride, decayed_k_ + begin * width, width,
                                           d_q + end * width, width);
      }
      if (end <= t.n) {
        RunBlock(t, begin, std::integral_constant<int, kBlock>(), d_scores, stride, d_q, d_k, d_decay);
      } else {
        RunBlock(t, begin, static_cast<int>(t.n - begin), d_scores, stride, d_q, d_k, d_decay);
      }
    }
  }

 private:
  static constexpr int kBlock = 8;  // two arrays of as many vectors do not fit in 16 registers, one does

  // Queries decayed from the begin of their block, keys to its end, which no one reads of the last block.
  void DecayBlock(const ChannelTokens<T>& t, int64_t b) {
    const int64_t begin = b * kBlock, end = std::min(t.n, begin + kBlock);
    constexpr LinearAttentionForm kForm = LinearAttentionForm::kChunked;
    if (end < t.n) DecayToEnd<kForm>(begin, end, t.width, t.decay, t.logs, t.k, factors_, decayed_k_);
    DecayFromBegin<kForm>(begin, end, t.width, t.decay, t.logs, t.q, factors_, decayed_q_);
    std::copy_n(factors_ + (end - 1) * t.width, t.width, block_decay_ + b * t.width);
  }

  // to <- a to + sum_i x_i y_i, in each channel.
  static void Carry(int64_t width, const T* HWY_RESTRICT a, int64_t rows, const T* HWY_RESTRICT x,
                    const T* HWY_RESTRICT y, T* HWY_RESTRICT to) {
    const hn::ScalableTag<T> d;
    for (int64_t c = 0; c < width; c += static_cast<int64_t>(hn::Lanes(d))) {
      auto sum = hn::Mul(hn::Load(d, a + c), hn::Load(d, to + c));
      for (int64_t i = c; i < rows * width; i += width) sum = hn::MulAdd(hn::Load(d, x + i), hn::Load(d, y + i), sum);
      hn::Store(sum, d, to + c);
    }
  }

  // x_i <- a x_i, in each channel.
  static void ScaleColumns(int64_t rows, int64_t width, const T* HWY_RESTRICT a, T* HWY_RESTRICT x) {
    const hn::ScalableTag<T> d;
    for (int64_t c = 0; c < width; c += static_cast<int64_t>(hn::Lanes(d))) {
      const auto factor = hn::Load(d, a + c);
      for (int64_t i = c; i < rows * width; i += width) hn::Store(hn::Mul(factor, hn::Load(d, x + i)), d, x + i);
    }
  }

  // Tokens first .. first + tokens - 1; their number is a constant for whole blocks, whose arrays are registers.
  //   da_t = <D, S_{t-1}> a_{t+1} ... a_last + sum_{i >= t} <r_i, S_{t-1}> q_i a_{t+1} ... a_i   for D after the block
  template <typename Count>
  HWY_NOINLINE void RunBlock(const ChannelTokens<T>& t, int64_t first, Count tokens, const T* HWY_RESTRICT d_scores,
                             int64_t stride, T* HWY_RESTRICT d_q, T* HWY_RESTRICT d_k, T* HWY_RESTRICT d_decay) {
    const int count = tokens;
    HWY_ASSUME(count <= kBlock);  // otherwise the compiler warns of what lies behind the arrays
    const hn::ScalableTag<T> d;
    const int64_t width = t.width;
    const T* HWY_RESTRICT block = d_scores + first * stride + first;
    const T* HWY_RESTRICT inner = inner_ + first / kBlock * width;
    const auto d_score = [&](int i, int j) HWY_ATTR { return hn::Set(d, block[i * stride + j]); };
    for (int64_t c = 0; c < width; c += static_cast<int64_t>(hn::Lanes(d))) {
      const int64_t at = first * width + c;
      const T *HWY_RESTRICT q = t.q + at, *HWY_RESTRICT k = t.k + at, *HWY_RESTRICT a = t.decay + at;
      hn::Vec<hn::ScalableTag<T>> x[kBlock];  // <r_i, S>, then <D, v_j>
      LRNN_UNROLL_BLOCK for (int i = 0; i < count; ++i) x[i] = hn::Load(d, d_q + at + i * width);
      hn::Vec<hn::ScalableTag<T>> a_q[kBlock];
      LRNN_UNROLL_BLOCK for (int i = 1; i < count; ++i) {
        a_q[i] = hn::Mul(hn::Load(d, a + i * width), hn::Load(d, q + i * width));
      }
      auto D_S = hn::Load(d, inner + c);  // <D after the block, S>
      LRNN_UNROLL_BLOCK for (int i = 0; i < count; ++i) {
        auto d_a = D_S;
        LRNN_UNROLL_BLOCK for (int later = count - 1; later > i; --later) {
          d_a = hn::MulAdd(hn::Load(d, a + later * width), d_a, hn::Mul(a_q[later], x[later]));
        }
        hn::Store(hn::MulAdd(hn::Load(d, q + i * width), x[i], d_a), d, d_decay + at + i * width);
        const auto decay = hn::Load(d, a + i * width), key = hn::Load(d, k + i * width);
        LRNN_UNROLL_BLOCK for (int later = i; later < count; ++later) {
          x[later] = hn::MulAdd(decay, x[later], hn::Mul(key, d_score(later, i)));
        }
        D_S = hn::MulAdd(decay, D_S, hn::Mul(key, hn::Load(d, d_k + at + i * width)));
        hn::Store(x[i], d, d_q + at + i * width);
      }
      LRNN_UNROLL_BLOCK for (int j = 0; j < count; ++j) x[j] = hn::Load(d, d_k + at + j * width);
      LRNN_UNROLL_BLOCK for (int i = count - 1; i >= 0; --i) {
        const auto decay = hn::Load(d, a + i * width), query = hn::Load(d, q + i * width);
        LRNN_UNROLL_BLOCK for (int j = 0; j < i; ++j) { x[j] = hn::Mul(decay, hn::MulAdd(query, d_score(i, j), x[j])); }
        hn::Store(hn::MulAdd(query, d_score(i, i), x[i]), d, d_k + at + i * width);
      }
    }
  }

  ChunkScratch<T> scratch_;
  T* factors_;                 // [n, width] of decayed_q_
  T *decayed_q_, *decayed_k_;  // [n, width]
  T* block_decay_;             // [blocks, width] the product of a block's decays
  T* inner_;                   // [blocks, width] <D after the block, S before it>
};

}  // namespace HWY_NAMESPACE
}  // namespace lrnn::kernels
HWY_AFTER_NAMESPACE();
#endif  // include guard
