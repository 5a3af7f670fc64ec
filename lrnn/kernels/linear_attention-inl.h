// Linear attention with decay for one head, chunk by chunk, compiled once for each SIMD target. Inside a chunk tokens
// see each other directly, through a triangle of scores; what came before they see through the state. All of it is
// products of small matrices. docs/math/linear_attention.md derives it. The backward pass:
// linear_attention_backward-inl.h.

#include <algorithm>
#include <initializer_list>

#include "lrnn/kernels/decay_products-inl.h"
#include "lrnn/kernels/linear_attention.h"
#include "lrnn/kernels/small_product-inl.h"

#ifndef LRNN_KERNELS_LINEAR_ATTENTION_ONCE_
#define LRNN_KERNELS_LINEAR_ATTENTION_ONCE_
namespace lrnn::kernels {

// A sequence that fits is one chunk and needs no state; longer ones are cut finer, since the triangle of scores grows
// with the square of a chunk. Measured: 16 and 32.
inline constexpr int64_t kMostChunkTokens = 32;
inline int64_t ChunkTokens(int64_t sequence_tokens) {
  return sequence_tokens <= kMostChunkTokens ? std::max<int64_t>(1, sequence_tokens) : 16;
}

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
  static int64_t Padded(int64_t size) { return (size + 31) / 32 * 32; }
  hwy::AlignedFreeUniquePtr<T[]> memory_;
};

}  // namespace lrnn::kernels
#endif

#if defined(LRNN_KERNELS_LINEAR_ATTENTION_INL_) == defined(HWY_TARGET_TOGGLE)
#ifdef LRNN_KERNELS_LINEAR_ATTENTION_INL_
#undef LRNN_KERNELS_LINEAR_ATTENTION_INL_
#else
#define LRNN_KERNELS_LINEAR_ATTENTION_INL_
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

// y_i <- a x_i (y may be x), and y_i <- x_i z_i.
template <typename T>
HWY_INLINE void ScaleRow(int64_t width, T a, const T* x, T* y) {
  const hn::ScalableTag<T> d;
  for (int64_t i = 0; i < width; i += static_cast<int64_t>(hn::Lanes(d))) {
    hn::Store(hn::Mul(hn::Set(d, a), hn::Load(d, x + i)), d, y + i);
  }
}
template <typename T>
HWY_INLINE void MultiplyRow(int64_t width, const T* HWY_RESTRICT x, const T* HWY_RESTRICT z, T* HWY_RESTRICT y) {
  const hn::ScalableTag<T> d;
  for (int64_t i = 0; i < width; i += static_cast<int64_t>(hn::Lanes(d))) {
    hn::Store(hn::Mul(hn::Load(d, x + i), hn::Load(d, z + i)), d, y + i);
  }
}

// Calls body with the form as a constant.
template <typename Body>
HWY_INLINE void WithForm(DecayProducts form, const Body& body) {
  switch (form) {
    case DecayProducts::kDirect:
      return body(std::integral_constant<DecayProducts, DecayProducts::kDirect>());
    case DecayProducts::kSignedLog:
      return body(std::integral_constant<DecayProducts, DecayProducts::kSignedLog>());
    case DecayProducts::kLog:
      return body(std::integral_constant<DecayProducts, DecayProducts::kLog>());
  }
}

// The tokens of one chunk of one head, the products of their decays, and the triangle of scores
//   P_ij = sum_c q_ic (a_{j+1} ... a_i)_c k_jc,  j <= i,
// so that o_i = scale (sum_j P_ij v_j + (prefix_i q_i)^T S) for the state S before the chunk, and after it
// S <- Diag(prefix_{n-1}) S + sum_j (suffix_j k_j) v_j^T.
// Rows are padded with zeros to whole vectors.
template <typename T>
class AttentionChunk {
 public:
  AttentionChunk(const LinearAttentionShape& shape, const LinearAttentionInputs<T>& in)
      : shape(shape),
        in(in),
        H(shape.heads),
        G(shape.key_groups),
        K(shape.key_width),
        V(shape.value_width),
        padded_K(Padded(K)),
        padded_V(Padded(V)),
        padded_C(Padded(kMostChunkTokens)),
        decay_width(shape.decay_per_channel ? padded_K : 1),
        scratch_({{&q, kMostChunkTokens * padded_K},
                  {&k, kMostChunkTokens * padded_K},
                  {&v, kMostChunkTokens * padded_V},
                  {&decay, kMostChunkTokens * decay_width},
                  {&log, kMostChunkTokens * decay_width},
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

  // Offsets of the rows of a head.
  int64_t KeyRow(int64_t token, int64_t head) const { return (token * G + head / (H / G)) * K; }
  int64_t HeadKeyRow(int64_t token, int64_t head) const { return (token * H + head) * K; }
  int64_t ValueRow(int64_t token, int64_t head) const { return (token * H + head) * V; }
  int64_t DecayRow(int64_t token, int64_t head) const {
    return shape.decay_per_channel ? HeadKeyRow(token, head) : token * H + head;
  }
  int64_t State(int64_t index, int64_t head) const { return (index * H + head) * K * V; }

  // Reads tokens begin .. begin + n - 1 and forms products and scores.
  void Load(int64_t begin, int64_t n_tokens, int64_t head) {
    n = n_tokens;
    LoadRows(in.q + KeyRow(begin, head), G * K, K, padded_K, q);
    LoadRows(in.k + KeyRow(begin, head), G * K, K, padded_K, k);
    LoadRows(in.v + ValueRow(begin, head), H * V, V, padded_V, v);
    LoadRows(in.decay + DecayRow(begin, head), shape.decay_per_channel ? H * K : H, shape.decay_per_channel ? K : 1,
             decay_width, decay);
    const T* logs = decay;  // not read in the direct form
    if (shape.products != DecayProducts::kDirect) {
      DecayLogs(Padded(n * decay_width), decay, log);
      logs = log;
    }
    WithForm(shape.products,
             [&](auto form) HWY_ATTR { shape.decay_per_channel ? FormChannel(form, logs) : FormScalar(form, logs); });
  }

  // Reads rows of the tokens of the chunk; those that a transpose would see after the last are cleared.
  void LoadRows(const T* from, int64_t from_stride, int64_t width, int64_t padded, T* to) const {
    for (int64_t i = 0; i < n; ++i) std::copy_n(from + i * from_stride, width, to + i * padded);
    const int64_t end = std::min(kMostChunkTokens, Padded(n));
    std::fill(to + n * padded, to + end * padded, T{0});
  }

  void LoadState(const T* from, T* to) const {
    for (int64_t i = 0; i < K; ++i) std::copy_n(from + i * V, V, to + i * padded_V);
  }
  void StoreState(const T* from, T* to) const {
    for (int64_t i = 0; i < K; ++i) std::copy_n(from + i * padded_V, V, to + i * V);
  }

  // Key j as it is left at token i, for i = j .. n-1: rows of `decayed`.
  void DecayKey(int64_t j) {
    const T* logs = shape.products == DecayProducts::kDirect ? decay : log;
    WithForm(shape.products, [&](auto form) HWY_ATTR {
      DecayedKeys<form.value>(j, n, padded_K, k + j * padded_K, decay, logs, decayed);
    });
  }

  const LinearAttentionShape& shape;
  const LinearAttentionInputs<T>& in;
  const int64_t H, G, K, V, padded_K, padded_V, padded_C, decay_width;
  int64_t n = 0;
  T *q, *k;                // [n, K]
  T* v;                    // [n, V]
  T *decay, *log;          // [n, K] or [n]
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
  void FormScalar(Form form, const T* logs) {
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
  void FormChannel(Form form, const T* logs) {
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

template <typename T>
class AttentionForward {
 public:
  AttentionForward(const LinearAttentionShape& shape, const LinearAttentionInputs<T>& in, T* o, T* final_state,
                   T* chunk_states)
      : chunk_(shape, in),
        o_(o),
        final_state_(final_state),
        chunk_states_(chunk_states),
        scratch_({{&read_, kMostChunkTokens * chunk_.padded_V}}) {}

  void Run(int64_t sequence, int64_t head, int64_t first_chunk_state) {
    AttentionChunk<T>& c = chunk_;
    const int64_t begin = c.shape.cu_seqlens[sequence], end = c.shape.cu_seqlens[sequence + 1];
    const int64_t most = ChunkTokens(end - begin);
    bool has_state = c.in.initial_state != nullptr;
    if (has_state) c.LoadState(c.in.initial_state + c.State(sequence, head), c.state);
    for (int64_t token = begin; token < end; token += most) {
      const bool last = token + most >= end;
      if (chunk_states_ && token > begin) {
        c.StoreState(c.state, chunk_states_ + c.State(first_chunk_state++, head));
      }
      c.Load(token, std::min(most, end - token), head);
      const int64_t n = c.n, K = c.padded_K, V = c.padded_V;
      Product<ProductStart::kZero, false>(ProductPart::kLowerA, n, V, n, c.scores, c.padded_C, c.v, V, read_, V);
      if (has_state) {
        Product<ProductStart::kAdd, false>(ProductPart::kFull, n, V, c.K, c.prefix_q, K, c.state, V, read_, V);
      }
      for (int64_t i = 0; i < n; ++i) {
        T* out = o_ + c.ValueRow(token + i, head);
        for (int64_t x = 0; x < c.V; ++x) out[x] = c.in.scale * read_[i * V + x];
      }
      if (last && !final_state_) break;
      if (has_state) {
        Product<ProductStart::kScaleRows, true>(ProductPart::kFull, c.K, V, n, c.suffix_k, K, c.v, V, c.state, V,
                                                c.state_decay);
      } else {
        Product<ProductStart::kZero, true>(ProductPart::kFull, c.K, V, n, c.suffix_k, K, c.v, V, c.state, V);
      }
      has_state = true;
    }
    if (!final_state_) return;
    T* final_state = final_state_ + c.State(sequence, head);
    if (has_state) {
      c.StoreState(c.state, final_state);
    } else {
      std::fill_n(final_state, c.K * c.V, T{0});  // an empty sequence
    }
  }

 private:
  AttentionChunk<T> chunk_;
  T* o_;
  T* final_state_;
  T* chunk_states_;
  ChunkScratch<T> scratch_;
  T* read_;  // [n, V] o before its scale
};

}  // namespace HWY_NAMESPACE
}  // namespace lrnn::kernels
HWY_AFTER_NAMESPACE();
#endif  // include guard
