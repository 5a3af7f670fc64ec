// The backward pass of linear attention with decay for one head, chunk by chunk from the last to the first, compiled
// once for each SIMD target. The gradient of a decay is taken back through the products it is a factor of, so it is
// finite where the decay is 0. docs/math/linear_attention.md.

#include <algorithm>

#include "lrnn/kernels/linear_attention.h"
#include "lrnn/kernels/linear_attention_chunk-inl.h"

#if defined(LRNN_KERNELS_LINEAR_ATTENTION_BACKWARD_INL_) == defined(HWY_TARGET_TOGGLE)
#ifdef LRNN_KERNELS_LINEAR_ATTENTION_BACKWARD_INL_
#undef LRNN_KERNELS_LINEAR_ATTENTION_BACKWARD_INL_
#else
#define LRNN_KERNELS_LINEAR_ATTENTION_BACKWARD_INL_
#endif

HWY_BEFORE_NAMESPACE();
namespace lrnn::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// y_i <- y_i + a x_i over whole vectors.
template <typename T>
HWY_INLINE void AddScaledRow(int64_t width, T a, const T* HWY_RESTRICT x, T* HWY_RESTRICT y) {
  const hn::ScalableTag<T> d;
  for (int64_t i = 0; i < width; i += static_cast<int64_t>(hn::Lanes(d))) {
    hn::Store(hn::MulAdd(hn::Set(d, a), hn::Load(d, x + i), hn::Load(d, y + i)), d, y + i);
  }
}

template <typename T>
class AttentionBackward {
 public:
  AttentionBackward(const LinearAttentionShape& shape, const LinearAttentionInputs<T>& in, const T* chunk_states,
                    const T* d_o, const T* d_final_state, const LinearAttentionGradients<T>& out)
      : c_(shape, in),
        chunk_states_(chunk_states),
        d_o_(d_o),
        d_final_state_(d_final_state),
        out_(out),
        scratch_({{&G_, c_.K * c_.padded_V},
                  {&r_, kMostChunkTokens * c_.padded_V},
                  {&transposed_r_, c_.padded_V * c_.padded_most},
                  {&transposed_v_, c_.padded_V * c_.padded_most},
                  {&transposed_, c_.padded_K * c_.padded_most},
                  {&d_scores_, kMostChunkTokens * c_.padded_most},
                  {&d_range_, kMostChunkTokens * c_.padded_most},
                  {&d_state_q_, kMostChunkTokens * c_.padded_K},
                  {&d_state_k_, kMostChunkTokens * c_.padded_K},
                  {&d_q_, kMostChunkTokens * c_.padded_K},
                  {&d_k_, kMostChunkTokens * c_.padded_K},
                  {&d_v_, kMostChunkTokens * c_.padded_V},
                  {&d_decay_, kMostChunkTokens * c_.decay_width},
                  {&dots_, std::max(kMostChunkTokens, c_.padded_K)}}) {}

  void Run(int64_t sequence, int64_t head, int64_t first_chunk_state) {
    const int64_t begin = c_.shape.cu_seqlens[sequence], end = c_.shape.cu_seqlens[sequence + 1];
    const int64_t most = ChunkTokens(end - begin);
    has_G_ = d_final_state_ != nullptr;
    if (has_G_) c_.LoadState(d_final_state_ + c_.State(sequence, head), G_);
    for (int64_t chunk = (end - begin + most - 1) / most - 1; chunk >= 0; --chunk) {
      const T* state = chunk > 0             ? chunk_states_ + c_.State(first_chunk_state + chunk - 1, head)
                       : c_.in.initial_state ? c_.in.initial_state + c_.State(sequence, head)
                                             : nullptr;
      state_ = state;
      if (state && c_.V != c_.padded_V) {
        c_.LoadState(state, c_.state);
        state_ = c_.state;
      }
      const int64_t token = begin + chunk * most, tokens = std::min(most, end - token);
      const bool needs_G = chunk > 0 || out_.initial_state;
      c_.Load(token, tokens, head, /*ahead=*/chunk > 0 ? -most : tokens, /*needs_prefix=*/state || needs_G,
              /*needs_suffix=*/has_G_);
      RunChunk(token, head, needs_G);
    }
    if (!out_.initial_state) return;
    T* d_initial = out_.initial_state + c_.State(sequence, head);
    if (has_G_) {
      c_.StoreState(G_, d_initial);
    } else {
      std::fill_n(d_initial, c_.K * c_.V, T{0});  // an empty sequence
    }
  }

 private:
  // On entry G_ is the gradient of the state after the chunk, on exit (when it is still needed) of that before it.
  void RunChunk(int64_t token, int64_t head, bool needs_G) {
    AttentionChunk<T>& c = c_;
    PrefetchRows(c.n, c.K, out_.q + c.KeyGradient(token, head), c.H * c.K);  // written below
    PrefetchRows(c.n, c.K, out_.k + c.KeyGradient(token, head), c.H * c.K);
    PrefetchRows(c.n, c.V, out_.v + c.Value(token, head), c.H * c.V);
    PrefetchRows(c.n, c.decays, out_.decay + c.Decay(token, head), c.H * c.decays);
    const int64_t n = c.n, K = c.padded_K, V = c.padded_V, C = c.padded_C, padded_n = c.Padded(n);
    c.LoadTokens(d_o_ + c.Value(token, head), c.H * c.V, c.V, c.in.scale, V, r_);
    Transpose(padded_n, c.V, c.v, V, transposed_v_, C);

    // Through the scores:  dP = r v^T.
    Product<ProductStart::kZero, false>(ProductPart::kLowerC, n, padded_n, c.V, r_, V, transposed_v_, C, d_scores_, C);
    // Through the states: prefix q reads the one before the chunk, suffix k writes the one after it.
    if (state_) {
      Transpose(padded_n, c.V, r_, V, transposed_r_, C);
      Product<ProductStart::kZero, false>(ProductPart::kFull, c.K, padded_n, c.V, state_, V, transposed_r_, C,
                                          transposed_, C);
      Transpose(K, padded_n, transposed_, C, d_state_q_, K);
    }
    if (has_G_) {
      Product<ProductStart::kZero, false>(ProductPart::kFull, c.K, padded_n, c.V, G_, V, transposed_v_, C, transposed_,
                                          C);
      Transpose(K, padded_n, transposed_, C, d_state_k_, K);
    }
    // dv = P^T r + (suffix k) G.
    Product<ProductStart::kZero, true>(ProductPart::kUpperA, n, V, n, c.scores, C, r_, V, d_v_, V);
    if (has_G_) {
      Product<ProductStart::kAdd, false>(ProductPart::kFull, n, V, c.K, c.suffix_k, K, G_, V, d_v_, V);
    }
    c.shape.decay_per_channel ? BackThroughChannels() : BackThroughScalars();
    Store(token, head);

    if (!needs_G) return;
    if (has_G_) {
      Product<ProductStart::kScaleRows, true>(ProductPart::kFull, c.K, V, n, c.prefix_q, K, r_, V, G_, V,
                                              c.state_decay);
    } else {
      Product<ProductStart::kZero, true>(ProductPart::kFull, c.K, V, n, c.prefix_q, K, r_, V, G_, V);
    }
    has_G_ = true;
  }

  // One decay a head:  P = range * qk:  d_range = dP * qk,  d_qk = dP * range (in place of dP);
  //   dq = prefix (S r) + d_qk k,   dk = suffix (G v) + d_qk^T q,
  // and back through the products of decays:  range_ij = a_i range_{i-1,j}  (suffix is its last row),
  //   prefix_i = a_i prefix_{i-1}.
  void BackThroughScalars() {
    const AttentionChunk<T>& c = c_;
    const hn::ScalableTag<T> d;
    const int64_t n = c.n, K = c.padded_K, C = c.padded_C, lanes = static_cast<int64_t>(hn::Lanes(d));
    for (int64_t i = 0; i < n; ++i) {
      const T *HWY_RESTRICT qk = c.qk + i * C, *HWY_RESTRICT range = c.range + i * C;
      T *HWY_RESTRICT d_scores = d_scores_ + i * C, *HWY_RESTRICT d_range = d_range_ + i * C;
      int64_t j = 0;
      for (; j <= i; j += lanes) {
        const auto d_score = hn::Load(d, d_scores + j);
        hn::Store(hn::Mul(d_score, hn::Load(d, qk + j)), d, d_range + j);
        hn::Store(hn::Mul(d_score, hn::Load(d, range + j)), d, d_scores + j);
      }
      for (; j < c.Padded(n); j += lanes) hn::Store(hn::Zero(d), d, d_scores + j);
    }
    if (has_G_) {
      RowDots(n, K, c.k, K, d_state_k_, K, dots_);
      for (int64_t j = 0; j < n; ++j) d_range_[(n - 1) * C + j] += dots_[j];
      Product<ProductStart::kScaleRows, true>(ProductPart::kUpperA, n, K, n, d_scores_, C, c.q, K, d_state_k_, K,
                                              c.suffix);
    } else {
      Product<ProductStart::kZero, true>(ProductPart::kUpperA, n, K, n, d_scores_, C, c.q, K, d_k_, K);
    }
    for (int64_t i = n - 1; i > 0; --i) {
      const T* above = c.range + (i - 1) * C;  // 0 right of its diagonal
      const int64_t width = (i + lanes - 1) / lanes * lanes;
      d_decay_[i] = RowDot(width, d_range_ + i * C, above);
      AddScaledRow(width, c.decay[i], d_range_ + i * C, d_range_ + (i - 1) * C);
    }
    d_decay_[0] = 0;
    if (!state_) {
      Product<ProductStart::kZero, false>(ProductPart::kLowerA, n, K, n, d_scores_, C, c.k, K, d_q_, K);
      return;
    }
    T d_prefix = has_G_ ? RowDot(c.K * c.padded_V, G_, state_) : T{0};
    RowDots(n, K, c.q, K, d_state_q_, K, dots_);
    for (int64_t i = n - 1; i >= 0; --i) {
      d_prefix += dots_[i];
      d_decay_[i] += d_prefix * (i > 0 ? c.prefix[i - 1] : T{1});
      d_prefix *= c.decay[i];
    }
    Product<ProductStart::kScaleRows, false>(ProductPart::kLowerA, n, K, n, d_scores_, C, c.k, K, d_state_q_, K,
                                             c.prefix);
  }

  // One decay a channel: through the scores, then through prefix q and suffix k.
  void BackThroughChannels() {
    AttentionChunk<T>& c = c_;
    const int64_t n = c.n, K = c.padded_K;
    WithForm(c.shape.form, [&](auto form) HWY_ATTR {
      c.channel_scores.template Back<form.value>(c.ChannelTokens(), d_scores_, c.padded_C, d_q_, d_k_, d_decay_);
    });
    if (state_) {
      if (has_G_) RowDots(c.K, c.padded_V, G_, c.padded_V, state_, c.padded_V, dots_);
      BackThroughFromBegin<T>(0, n, K, c.decay, c.q, c.prefix, d_state_q_, has_G_ ? dots_ : nullptr, d_q_, d_decay_);
    }
    if (has_G_) BackThroughToEnd(0, n, K, c.decay, c.k, c.suffix, d_state_k_, d_k_, d_decay_);
  }

  void Store(int64_t token, int64_t head) const {
    const AttentionChunk<T>& c = c_;
    const int64_t keys = c.H * c.K;
    // With one decay a head, what came through the states was completed in place.
    const bool in_place = !c.shape.decay_per_channel;
    const T *d_q = in_place && state_ ? d_state_q_ : d_q_, *d_k = in_place && has_G_ ? d_state_k_ : d_k_;
    ScaleRows(c.n, c.K, T{1}, d_q, c.padded_K, out_.q + c.KeyGradient(token, head), keys);
    ScaleRows(c.n, c.K, T{1}, d_k, c.padded_K, out_.k + c.KeyGradient(token, head), keys);
    ScaleRows(c.n, c.V, T{1}, d_v_, c.padded_V, out_.v + c.Value(token, head), c.H * c.V);
    ScaleRows(c.n, c.decays, T{1}, d_decay_, c.decay_width, out_.decay + c.Decay(token, head), c.H * c.decays);
  }

  AttentionChunk<T> c_;
  const T* chunk_states_;
  const T* d_o_;
  const T* d_final_state_;
  const LinearAttentionGradients<T>& out_;
  const T* state_ = nullptr;  // [K, V] before the chunk, rows of padded_V; null: 0
  bool has_G_ = false;        // the gradient of the state after the chunk is not 0

  ChunkScratch<T> scratch_;
  T* G_;                             // [K, V]
  T* r_;                             // [n, V] scale d_o: all that d_o flows into carries the scale through it
  T *transposed_r_, *transposed_v_;  // [V, n]
  T* transposed_;                    // [K, n]
  T* d_scores_;                      // [n, n]
  T* d_range_;                       // [n, n]
  T *d_state_q_, *d_state_k_;        // [n, K] of prefix q and suffix k: S r and G v
  T *d_q_, *d_k_;                    // [n, K]
  T* d_v_;                           // [n, V]
  T* d_decay_;                       // [n, K] or [n]
  T* dots_;                          // [n] or [K]
};

}  // namespace HWY_NAMESPACE
}  // namespace lrnn::kernels
HWY_AFTER_NAMESPACE();
#endif  // include guard
