// A chunk of tokens of one head of linear attention, compiled once for each SIMD target. Inside a chunk tokens see each
// other directly, through a triangle of scores; what came before they see through the state. All of it is products of
// small matrices. docs/math/linear_attention.md derives it.

#include <algorithm>

#include "lrnn/kernels/decay_products-inl.h"
#include "lrnn/kernels/linear_attention.h"
#include "lrnn/kernels/linear_attention_channels-inl.h"
#include "lrnn/kernels/linear_attention_rows-inl.h"
#include "lrnn/kernels/small_product-inl.h"

#ifndef LRNN_KERNELS_LINEAR_ATTENTION_CHUNK_ONCE_
#define LRNN_KERNELS_LINEAR_ATTENTION_CHUNK_ONCE_
namespace lrnn::kernels {

// A sequence that fits is one chunk and needs no state; longer ones are cut finer, since the triangle of scores grows
// with the square of a chunk, unless the state is so large that it matters more. Measured: 16 and 32.
inline constexpr int64_t kMostChunkTokens = 32, kLongSequenceChunk = 16;
inline bool HasWideState(const LinearAttentionShape& shape) { return shape.key_width * shape.value_width >= 128 * 128; }
inline int64_t ChunkTokens(const LinearAttentionShape& shape, int64_t sequence_tokens) {
  if (sequence_tokens <= kMostChunkTokens) return std::max<int64_t>(1, sequence_tokens);
  return HasWideState(shape) ? kMostChunkTokens : kLongSequenceChunk;
}

}  // namespace lrnn::kernels
#endif

#if defined(LRNN_KERNELS_LINEAR_ATTENTION_CHUNK_INL_) == defined(HWY_TARGET_TOGGLE)
#ifdef LRNN_KERNELS_LINEAR_ATTENTION_CHUNK_INL_
#undef LRNN_KERNELS_LINEAR_ATTENTION_CHUNK_INL_
#else
#define LRNN_KERNELS_LINEAR_ATTENTION_CHUNK_INL_
#endif

HWY_BEFORE_NAMESPACE();
namespace lrnn::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Calls body with the form of a chunk's products as a constant.
template <typename Body>
HWY_INLINE void WithForm(LinearAttentionForm form, const Body& body) {
  switch (form) {
    case LinearAttentionForm::kSignedLog:
      return body(std::integral_constant<LinearAttentionForm, LinearAttentionForm::kSignedLog>());
    case LinearAttentionForm::kPositiveLog:
      return body(std::integral_constant<LinearAttentionForm, LinearAttentionForm::kPositiveLog>());
    default:
      return body(std::integral_constant<LinearAttentionForm, LinearAttentionForm::kChunked>());
  }
}

// The tokens of one chunk of one head, the products of their decays, and the triangle of scores
//   P_ij = sum_c q_ic (a_{j+1} ... a_i)_c k_jc,  j <= i,
// so that o_i = scale (sum_j P_ij v_j + prefix_i q_i^T S) for the state S before the chunk, and after it
// S <- Diag(prefix_{n-1}) S + sum_j (suffix_j k_j) v_j^T.
// Rows are padded with zeros to whole vectors.
template <typename T>
class AttentionChunk : public AttentionRows {
 public:
  AttentionChunk(const LinearAttentionShape& shape, const LinearAttentionInputs<T>& in, const HeadRange& heads)
      : AttentionRows(shape, heads),
        shape(shape),
        in(in),
        padded_K(Padded(K)),
        padded_V(Padded(V)),
        padded_most(Padded(kMostChunkTokens)),
        state_size(K * padded_V),
        decay_width(shape.decay_per_channel ? padded_K : 1),
        scratch_({{&q, kMostChunkTokens * padded_K},
                  {&k, kMostChunkTokens * padded_K},
                  {&v, kMostChunkTokens * padded_V},
                  {&decay, kMostChunkTokens * decay_width},
                  {&logs.log, kMostChunkTokens * decay_width},
                  {&logs.sign, kMostChunkTokens * decay_width},
                  {&prefix, kMostChunkTokens * decay_width},
                  {&suffix, kMostChunkTokens * decay_width},
                  {&prefix_q, kMostChunkTokens * padded_K},
                  {&suffix_k, kMostChunkTokens * padded_K},
                  {&state_decay, padded_K},
                  {&scores, kMostChunkTokens * padded_most},
                  {&range, shape.decay_per_channel ? 0 : kMostChunkTokens * padded_most},
                  {&qk, shape.decay_per_channel ? 0 : kMostChunkTokens * padded_most},
                  {&transposed_k, shape.decay_per_channel ? 0 : padded_K * padded_most},
                  {&state, K * padded_V}}),
        channel_scores(shape.decay_per_channel ? kMostChunkTokens : 0, decay_width) {}

  static int64_t Padded(int64_t width) {
    // At least 4: blocks of a transpose.
    return static_cast<int64_t>(hwy::RoundUpTo(width, std::max<size_t>(4, hn::Lanes(hn::ScalableTag<T>()))));
  }

  // What the heads of the task read of tokens they come to next.
  void AddInputs(int64_t token, int64_t tokens) {
    AddKeys(in.q, token, tokens, ahead);
    AddKeys(in.k, token, tokens, ahead);
    AddRows(in.decay, decays, token, tokens, ahead);
    AddRows(in.v, V, token, tokens, ahead);
  }

  // to <- start + A B, asking for what comes next on the way.
  template <ProductStart kStart, bool kTransposedA>
  HWY_INLINE void Multiply(ProductPart part, int64_t M, int64_t N, int64_t L, const T* A, int64_t A_stride, const T* B,
                           int64_t B_stride, T* to, int64_t to_stride, const T* scale = nullptr,
                           const T* start = nullptr, int64_t start_stride = 0) {
    Product<kStart, kTransposedA, true>(part, M, N, L, A, A_stride, B, B_stride, to, to_stride, scale, &ahead, start,
                                        start_stride);
  }

  // Reads tokens begin .. begin + n - 1 and forms products and scores: prefix_q and suffix_k only if asked for.
  void Load(int64_t begin, int64_t n_tokens, int64_t head, bool needs_prefix, bool needs_suffix) {
    n = n_tokens;
    // Rows no longer than needed: columns far apart would share few lines of the first-level cache.
    if (const int64_t C = Padded(n <= kLongSequenceChunk ? kLongSequenceChunk : kMostChunkTokens); C != padded_C) {
      padded_C = C;
      std::fill_n(scores, kMostChunkTokens * C, T{0});
    }
    LoadTokens(in.q + Key(begin, head), G * K, K, T{1}, padded_K, q);
    LoadTokens(in.k + Key(begin, head), G * K, K, T{1}, padded_K, k);
    LoadTokens(in.v + Value(begin, head), H * V, V, T{1}, padded_V, v);
    LoadTokens(in.decay + Decay(begin, head), H * decays, decays, T{1}, decay_width, decay);
    WithForm(shape.form, [&](auto form) HWY_ATTR {
      if constexpr (kInLogSpace<form.value>) TakeDecayLogs<form.value>(n, decay_width, decay, logs);
      shape.decay_per_channel ? FormChannel(form, needs_prefix, needs_suffix)
                              : FormScalar(form, needs_prefix, needs_suffix);
    });
  }

  // Reads rows of the tokens of the chunk, times a; those that a transpose would see after the last are cleared.
  void LoadTokens(const T* from, int64_t from_stride, int64_t width, T a, int64_t padded, T* to) const {
    ScaleRows(n, width, a, from, from_stride, to, padded);
    const int64_t end = std::min(kMostChunkTokens, Padded(n));
    if (n < end) std::fill(to + n * padded, to + end * padded, T{0});
  }

  void LoadState(const T* from, T* to) const { ScaleRows(K, V, T{1}, from, V, to, padded_V); }
  void StoreState(const T* from, T* to) const { ScaleRows(K, V, T{1}, from, padded_V, to, V); }

  ChannelTokens<T> Channels() const { return {n, padded_K, q, k, decay, logs}; }

  const LinearAttentionShape& shape;
  const LinearAttentionInputs<T>& in;
  const int64_t padded_K, padded_V, padded_most, state_size, decay_width;
  int64_t padded_C = 0;
  int64_t n = 0;
  T *q, *k;                // [n, K]
  T* v;                    // [n, V]
  T* decay;                // [n, K] or [n]
  DecayLogs<T> logs;       // [n, K] or [n]
  T *prefix, *suffix;      // [n, K] or [n]
  T *prefix_q, *suffix_k;  // [n, K]
  T* state_decay;          // [K] what the chunk leaves of the state: prefix_{n-1}
  T* scores;               // [n, C] P, 0 above the diagonal (with one decay a channel it is never written there)
  T *range, *qk;           // [n, C] one decay a head: P = range * qk
  T* transposed_k;         // [K, C]
  T* state;                // [K, V] for the caller
  PrefetchQueue ahead;

 private:
  template <typename Form>
  void FormScalar(Form form, bool needs_prefix, bool needs_suffix) {
    ScalarDecayProducts<form.value>(n, decay, logs, prefix, range, padded_C);
    std::copy_n(range + (n - 1) * padded_C, n, suffix);
    std::fill_n(state_decay, K, prefix[n - 1]);
    if (needs_prefix) ScaleEachRow(n, padded_K, prefix, q, prefix_q);
    if (needs_suffix) ScaleEachRow(n, padded_K, suffix, k, suffix_k);
    Transpose(Padded(n), K, k, padded_K, transposed_k, padded_C);
    Multiply<ProductStart::kZero, false>(ProductPart::kLowerC, n, Padded(n), K, q, padded_K, transposed_k, padded_C, qk,
                                         padded_C);
    MultiplyTriangle(n, Padded(n), padded_C, range, qk, scores);
  }

  template <typename Form>
  void FormChannel(Form form, bool needs_prefix, bool needs_suffix) {
    if (needs_prefix) DecayFromBegin<form.value>(0, n, padded_K, decay, logs, q, prefix, prefix_q);
    if (needs_suffix) DecayToEnd<form.value>(0, n, padded_K, decay, logs, k, suffix, suffix_k);
    std::copy_n(prefix + (n - 1) * padded_K, padded_K, state_decay);
    channel_scores.template Form<form.value>(Channels(), scores, padded_C);
  }

  ChunkScratch<T> scratch_;

 public:
  ChannelScores<T> channel_scores;  // for one decay a channel
};

}  // namespace HWY_NAMESPACE
}  // namespace lrnn::kernels
HWY_AFTER_NAMESPACE();
#endif  // include guard
