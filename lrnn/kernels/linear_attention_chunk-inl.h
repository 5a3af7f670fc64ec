// A chunk of tokens of one head of linear attention, compiled once for each SIMD target. Inside a chunk tokens see each
// other directly, through a triangle of scores; what came before they see through the state. All of it is products of
// small matrices. docs/math/linear_attention.md derives it.

#include <algorithm>
#include <initializer_list>

#include "lrnn/kernels/decay_products-inl.h"
#include "lrnn/kernels/linear_attention.h"
#include "lrnn/kernels/prefetch.h"
#include "lrnn/kernels/small_product-inl.h"

#ifndef LRNN_KERNELS_LINEAR_ATTENTION_CHUNK_ONCE_
#define LRNN_KERNELS_LINEAR_ATTENTION_CHUNK_ONCE_
namespace lrnn::kernels {

// A sequence that fits is one chunk and needs no state; longer ones are cut finer, since the triangle of scores grows
// with the square of a chunk. Measured: 16 and 32.
inline constexpr int64_t kMostChunkTokens = 32;
inline int64_t ChunkTokens(int64_t sequence_tokens) {
  return sequence_tokens <= kMostChunkTokens ? std::max<int64_t>(1, sequence_tokens) : 16;
}

// Where the rows of a head start.
struct AttentionRows {
  explicit AttentionRows(const LinearAttentionShape& shape)
      : H(shape.heads),
        G(shape.key_groups),
        K(shape.key_width),
        V(shape.value_width),
        decays(shape.decay_per_channel ? shape.key_width : 1) {}

  int64_t Key(int64_t token, int64_t head) const { return (token * G + head / (H / G)) * K; }
  int64_t KeyGradient(int64_t token, int64_t head) const { return (token * H + head) * K; }
  int64_t Value(int64_t token, int64_t head) const { return (token * H + head) * V; }
  int64_t Decay(int64_t token, int64_t head) const { return (token * H + head) * decays; }
  int64_t State(int64_t index, int64_t head) const { return (index * H + head) * K * V; }

  const int64_t H, G, K, V;
  const int64_t decays;  // of a token and head: K or 1
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

// sum x_i y_i over whole vectors.
template <typename T>
HWY_INLINE T RowDot(int64_t width, const T* HWY_RESTRICT x, const T* HWY_RESTRICT y) {
  const hn::ScalableTag<T> d;
  auto sum = hn::Zero(d);
  for (int64_t i = 0; i < width; i += static_cast<int64_t>(hn::Lanes(d))) {
    sum = hn::MulAdd(hn::Load(d, x + i), hn::Load(d, y + i), sum);
  }
  return hn::GetLane(hn::SumOfLanes(d, sum));
}

// y_i <- x_i for any addresses and width. Inline: a call for each row would cost as much as the arithmetic.
template <typename T>
HWY_INLINE void CopyRow(int64_t width, const T* HWY_RESTRICT x, T* HWY_RESTRICT y) {
  const hn::ScalableTag<T> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= width; i += lanes) hn::StoreU(hn::LoadU(d, x + i), d, y + i);
  for (; i < width; ++i) y[i] = x[i];
}

// y_i <- a x_i, and y_i <- x_i z_i; y may be x.
template <typename T>
HWY_INLINE void ScaleRow(int64_t width, T a, const T* x, T* y) {
  const hn::ScalableTag<T> d;
  for (int64_t i = 0; i < width; i += static_cast<int64_t>(hn::Lanes(d))) {
    hn::Store(hn::Mul(hn::Set(d, a), hn::Load(d, x + i)), d, y + i);
  }
}
template <typename T>
HWY_INLINE void MultiplyRow(int64_t width, const T* x, const T* z, T* y) {
  const hn::ScalableTag<T> d;
  for (int64_t i = 0; i < width; i += static_cast<int64_t>(hn::Lanes(d))) {
    hn::Store(hn::Mul(hn::Load(d, x + i), hn::Load(d, z + i)), d, y + i);
  }
}

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
// so that o_i = scale (sum_j P_ij v_j + (prefix_i q_i)^T S) for the state S before the chunk, and after it
// S <- Diag(prefix_{n-1}) S + sum_j (suffix_j k_j) v_j^T.
// Rows are padded with zeros to whole vectors.
template <typename T>
class AttentionChunk : public AttentionRows {
 public:
  AttentionChunk(const LinearAttentionShape& shape, const LinearAttentionInputs<T>& in)
      : AttentionRows(shape),
        shape(shape),
        in(in),
        padded_K(Padded(K)),
        padded_V(Padded(V)),
        padded_C(Padded(kMostChunkTokens)),
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
                  {&scores, kMostChunkTokens * padded_C},
                  {&range, shape.decay_per_channel ? 0 : kMostChunkTokens * padded_C},
                  {&qk, shape.decay_per_channel ? 0 : kMostChunkTokens * padded_C},
                  {&transposed_k, shape.decay_per_channel ? 0 : padded_K * padded_C},
                  {&decayed, shape.decay_per_channel ? kMostChunkTokens * padded_K : 0},
                  {&state, K * padded_V}}) {}

  static int64_t Padded(int64_t width) {
    // At least 4: blocks of a transpose.
    return static_cast<int64_t>(hwy::RoundUpTo(width, std::max<size_t>(4, hn::Lanes(hn::ScalableTag<T>()))));
  }

  // Reads tokens begin .. begin + n - 1 and forms products and scores. The tokens read next start `ahead` further.
  void Load(int64_t begin, int64_t n_tokens, int64_t head, int64_t ahead) {
    n = n_tokens;
    next = ahead;
    LoadRows(in.q + Key(begin, head), G * K, K, padded_K, q);
    LoadRows(in.k + Key(begin, head), G * K, K, padded_K, k);
    LoadRows(in.v + Value(begin, head), H * V, V, padded_V, v);
    LoadRows(in.decay + Decay(begin, head), H * decays, decays, decay_width, decay);
    WithForm(shape.form, [&](auto form) HWY_ATTR {
      if constexpr (kInLogSpace<form.value>) TakeDecayLogs<form.value>(n, decay_width, decay, logs);
      shape.decay_per_channel ? FormChannel(form) : FormScalar(form);
    });
  }

  // Reads rows of the tokens of the chunk; those that a transpose would see after the last are cleared.
  void LoadRows(const T* from, int64_t from_stride, int64_t width, int64_t padded, T* to) const {
    for (int64_t i = 0; i < n; ++i) {
      const T* row = from + i * from_stride;
      PrefetchRow(row + next * from_stride, width);
      CopyRow(width, row, to + i * padded);
    }
    const int64_t end = std::min(kMostChunkTokens, Padded(n));
    std::fill(to + n * padded, to + end * padded, T{0});
  }
  void StoreRows(const T* from, int64_t padded, int64_t width, T* to, int64_t to_stride) const {
    for (int64_t i = 0; i < n; ++i) CopyRow(width, from + i * padded, to + i * to_stride);
  }

  void LoadState(const T* from, T* to) const {
    for (int64_t i = 0; i < K; ++i) CopyRow(V, from + i * V, to + i * padded_V);
  }
  void StoreState(const T* from, T* to) const {
    for (int64_t i = 0; i < K; ++i) CopyRow(V, from + i * padded_V, to + i * V);
  }

  // Key j as it is left at token i, for i = j .. n-1: rows of `decayed`.
  void DecayKey(int64_t j) {
    WithForm(shape.form, [&](auto form) HWY_ATTR {
      DecayedKeys<form.value>(j, n, padded_K, k + j * padded_K, decay, logs, decayed);
    });
  }

  const LinearAttentionShape& shape;
  const LinearAttentionInputs<T>& in;
  const int64_t padded_K, padded_V, padded_C, decay_width;
  int64_t n = 0;
  int64_t next = 0;        // where the tokens read next start, from the chunk's first
  T *q, *k;                // [n, K]
  T* v;                    // [n, V]
  T* decay;                // [n, K] or [n]
  DecayLogs<T> logs;       // [n, K] or [n]
  T *prefix, *suffix;      // [n, K] or [n]
  T *prefix_q, *suffix_k;  // [n, K]
  T* state_decay;          // [K] what the chunk leaves of the state: prefix_{n-1}
  T* scores;               // [n, C] P, 0 above the diagonal
  T *range, *qk;           // [n, C] one decay a head: P = range * qk
  T* transposed_k;         // [K, C]
  T* decayed;              // [n, K]
  T* state;                // [K, V] for the caller

 private:
  template <typename Form>
  void FormScalar(Form form) {
    ScalarDecayProducts<form.value>(n, decay, logs, prefix, range, padded_C);
    std::copy_n(range + (n - 1) * padded_C, n, suffix);
    std::fill_n(state_decay, K, prefix[n - 1]);
    for (int64_t i = 0; i < n; ++i) {
      ScaleRow(padded_K, prefix[i], q + i * padded_K, prefix_q + i * padded_K);
      ScaleRow(padded_K, suffix[i], k + i * padded_K, suffix_k + i * padded_K);
    }
    Transpose(Padded(n), K, k, padded_K, transposed_k, padded_C);
    Product<ProductStart::kZero, false>(ProductPart::kLowerC, n, Padded(n), K, q, padded_K, transposed_k, padded_C, qk,
                                        padded_C);
    const hn::ScalableTag<T> d;
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
    for (int64_t i = 0; i < n; ++i) {
      const int64_t row = i * padded_C;
      int64_t j = 0;
      for (; j <= i; j += lanes) {
        hn::Store(hn::Mul(hn::Load(d, range + row + j), hn::Load(d, qk + row + j)), d, scores + row + j);
      }
      for (; j < Padded(n); j += lanes) hn::Store(hn::Zero(d), d, scores + row + j);
    }
  }

  template <typename Form>
  void FormChannel(Form form) {
    ChannelDecayProducts<form.value>(n, padded_K, decay, logs, prefix, suffix);
    std::copy_n(prefix + (n - 1) * padded_K, padded_K, state_decay);
    MultiplyRow(n * padded_K, prefix, q, prefix_q);
    MultiplyRow(n * padded_K, suffix, k, suffix_k);
    std::fill_n(scores, n * padded_C, T{0});
    for (int64_t j = 0; j < n; ++j) {
      DecayedKeys<form.value>(j, n, padded_K, k + j * padded_K, decay, logs, decayed);
      for (int64_t i = j; i < n; ++i) {
        scores[i * padded_C + j] = RowDot(padded_K, q + i * padded_K, decayed + i * padded_K);
      }
    }
  }

  ChunkScratch<T> scratch_;
};

}  // namespace HWY_NAMESPACE
}  // namespace lrnn::kernels
HWY_AFTER_NAMESPACE();
#endif  // include guard
