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

// y_i <- y_i + a x_i, and y_i <- y_i + x_i z_i.
template <typename T>
HWY_INLINE void AddScaledRow(int64_t width, T a, const T* HWY_RESTRICT x, T* HWY_RESTRICT y) {
  const hn::ScalableTag<T> d;
  for (int64_t i = 0; i < width; i += static_cast<int64_t>(hn::Lanes(d))) {
    hn::Store(hn::MulAdd(hn::Set(d, a), hn::Load(d, x + i), hn::Load(d, y + i)), d, y + i);
  }
}
template <typename T>
HWY_INLINE void AddMultipliedRow(int64_t width, const T* HWY_RESTRICT x, const T* HWY_RESTRICT z, T* HWY_RESTRICT y) {
  const hn::ScalableTag<T> d;
  for (int64_t i = 0; i < width; i += static_cast<int64_t>(hn::Lanes(d))) {
    hn::Store(hn::MulAdd(hn::Load(d, x + i), hn::Load(d, z + i), hn::Load(d, y + i)), d, y + i);
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
                  {&transposed_r_, c_.padded_V * c_.padded_C},
                  {&transposed_v_, c_.padded_V * c_.padded_C},
                  {&transposed_, c_.padded_K * c_.padded_C},
                  {&d_scores_, kMostChunkTokens * c_.padded_C},
                  {&d_range_, kMostChunkTokens * c_.padded_C},
                  {&d_prefix_q_, kMostChunkTokens * c_.padded_K},
                  {&d_suffix_k_, kMostChunkTokens * c_.padded_K},
                  {&d_q_, kMostChunkTokens * c_.padded_K},
                  {&d_k_, kMostChunkTokens * c_.padded_K},
                  {&d_v_, kMostChunkTokens * c_.padded_V},
                  {&d_decay_, kMostChunkTokens * c_.decay_width},
                  {&d_state_decay_, c_.padded_K}}) {}

  void Run(int64_t sequence, int64_t head, int64_t first_chunk_state) {
    const int64_t begin = c_.shape.cu_seqlens[sequence], end = c_.shape.cu_seqlens[sequence + 1];
    const int64_t most = ChunkTokens(end - begin);
    has_G_ = d_final_state_ != nullptr;
    if (has_G_) c_.LoadState(d_final_state_ + c_.State(sequence, head), G_);
    for (int64_t chunk = (end - begin + most - 1) / most - 1; chunk >= 0; --chunk) {
      const T* state = chunk > 0             ? chunk_states_ + c_.State(first_chunk_state + chunk - 1, head)
                       : c_.in.initial_state ? c_.in.initial_state + c_.State(sequence, head)
                                             : nullptr;
      has_state_ = state != nullptr;
      if (has_state_) c_.LoadState(state, c_.state);
      const int64_t token = begin + chunk * most, tokens = std::min(most, end - token);
      c_.Load(token, tokens, head, /*ahead=*/chunk > 0 ? -most : tokens);
      RunChunk(token, head, chunk > 0 || out_.initial_state);
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
    for (int64_t i = token; i < token + c.n; ++i) {  // written below
      PrefetchRow(out_.q + c.KeyGradient(i, head), c.K);
      PrefetchRow(out_.k + c.KeyGradient(i, head), c.K);
      PrefetchRow(out_.v + c.Value(i, head), c.V);
      PrefetchRow(out_.decay + c.Decay(i, head), c.decays);
    }
    const int64_t n = c.n, K = c.padded_K, V = c.padded_V, C = c.padded_C, padded_n = c.Padded(n);
    c.LoadRows(d_o_ + c.Value(token, head), c.H * c.V, c.V, V, r_);
    ScaleRow(n * V, c.in.scale, r_, r_);
    Transpose(padded_n, c.V, r_, V, transposed_r_, C);
    Transpose(padded_n, c.V, c.v, V, transposed_v_, C);

    // What flows through the scores:  dP = r v^T,  dv = P^T r.
    Product<ProductStart::kZero, false>(ProductPart::kLowerC, n, padded_n, c.V, r_, V, transposed_v_, C, d_scores_, C);
    Product<ProductStart::kZero, true>(ProductPart::kUpperA, n, V, n, c.scores, C, r_, V, d_v_, V);
    std::fill_n(d_decay_, n * c.decay_width, T{0});
    c.shape.decay_per_channel ? BackThroughChannelScores() : BackThroughScalarScores();

    // What flows through the states: prefix_q reads the one before the chunk, suffix_k writes the one after it.
    std::fill_n(d_state_decay_, K, T{0});
    if (has_state_) {
      Product<ProductStart::kZero, false>(ProductPart::kFull, c.K, padded_n, c.V, c.state, V, transposed_r_, C,
                                          transposed_, C);
      Transpose(K, padded_n, transposed_, C, d_prefix_q_, K);
      if (has_G_) {
        for (int64_t i = 0; i < c.K; ++i) d_state_decay_[i] = RowDot(V, G_ + i * V, c.state + i * V);
      }
    }
    if (has_G_) {
      Product<ProductStart::kZero, false>(ProductPart::kFull, c.K, padded_n, c.V, G_, V, transposed_v_, C, transposed_,
                                          C);
      Transpose(K, padded_n, transposed_, C, d_suffix_k_, K);
      Product<ProductStart::kAdd, false>(ProductPart::kFull, n, V, c.K, c.suffix_k, K, G_, V, d_v_, V);
    }
    c.shape.decay_per_channel ? BackThroughChannelProducts() : BackThroughScalarProducts();
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

  // P = range * qk:  d_range = dP * qk,  d_qk = dP * range (in place of dP),  dq = d_qk k,  dk = d_qk^T q.
  void BackThroughScalarScores() {
    const AttentionChunk<T>& c = c_;
    const hn::ScalableTag<T> d;
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
    for (int64_t i = 0; i < c.n; ++i) {
      const int64_t row = i * c.padded_C;
      int64_t j = 0;
      for (; j <= i; j += lanes) {
        const auto d_score = hn::Load(d, d_scores_ + row + j);
        hn::Store(hn::Mul(d_score, hn::Load(d, c.qk + row + j)), d, d_range_ + row + j);
        hn::Store(hn::Mul(d_score, hn::Load(d, c.range + row + j)), d, d_scores_ + row + j);
      }
      for (; j < c.Padded(c.n); j += lanes) hn::Store(hn::Zero(d), d, d_scores_ + row + j);
    }
    Product<ProductStart::kZero, false>(ProductPart::kLowerA, c.n, c.padded_K, c.n, d_scores_, c.padded_C, c.k,
                                        c.padded_K, d_q_, c.padded_K);
    Product<ProductStart::kZero, true>(ProductPart::kUpperA, c.n, c.padded_K, c.n, d_scores_, c.padded_C, c.q,
                                       c.padded_K, d_k_, c.padded_K);
  }

  // Back through prefix_q = prefix q, suffix_k = suffix k, then through the products themselves:
  //   range_ij = a_i range_{i-1,j}  (suffix is its last row),   prefix_i = a_i prefix_{i-1}.
  void BackThroughScalarProducts() {
    const AttentionChunk<T>& c = c_;
    const int64_t n = c.n, K = c.padded_K, C = c.padded_C;
    if (has_G_) {
      for (int64_t j = 0; j < n; ++j) {
        d_range_[(n - 1) * C + j] += RowDot(K, c.k + j * K, d_suffix_k_ + j * K);
        AddScaledRow(K, c.suffix[j], d_suffix_k_ + j * K, d_k_ + j * K);
      }
    }
    for (int64_t i = n - 1; i > 0; --i) {
      const T* above = c.range + (i - 1) * C;  // 0 right of its diagonal
      const int64_t width = c.Padded(i);
      d_decay_[i] = RowDot(width, d_range_ + i * C, above);
      AddScaledRow(width, c.decay[i], d_range_ + i * C, d_range_ + (i - 1) * C);
    }
    if (!has_state_) return;
    T d_prefix = 0;
    for (int64_t i = 0; i < c.K; ++i) d_prefix += d_state_decay_[i];
    for (int64_t i = n - 1; i >= 0; --i) {
      d_prefix += RowDot(K, c.q + i * K, d_prefix_q_ + i * K);
      AddScaledRow(K, c.prefix[i], d_prefix_q_ + i * K, d_q_ + i * K);
      d_decay_[i] += d_prefix * (i > 0 ? c.prefix[i - 1] : T{1});
      d_prefix *= c.decay[i];
    }
  }

  // Column j of P is dot products of queries with what is left of key j:  x_j = k_j,  x_i = a_i x_{i-1},  P_ij =
  // q_i.x_i.
  void BackThroughChannelScores() {
    AttentionChunk<T>& c = c_;
    const hn::ScalableTag<T> d;
    const int64_t n = c.n, K = c.padded_K, lanes = static_cast<int64_t>(hn::Lanes(d));
    std::fill_n(d_q_, n * K, T{0});
    for (int64_t j = 0; j < n; ++j) {
      c.DecayKey(j);
      for (int64_t x = 0; x < K; x += lanes) {
        auto d_x = hn::Zero(d);
        for (int64_t i = n - 1; i >= j; --i) {
          const int64_t at = i * K + x;
          const auto d_score = hn::Set(d, d_scores_[i * c.padded_C + j]);
          d_x = hn::MulAdd(d_score, hn::Load(d, c.q + at), d_x);
          hn::Store(hn::MulAdd(d_score, hn::Load(d, c.decayed + at), hn::Load(d, d_q_ + at)), d, d_q_ + at);
          if (i == j) break;
          const auto d_a = hn::MulAdd(d_x, hn::Load(d, c.decayed + at - K), hn::Load(d, d_decay_ + at));
          hn::Store(d_a, d, d_decay_ + at);
          d_x = hn::Mul(d_x, hn::Load(d, c.decay + at));
        }
        hn::Store(d_x, d, d_k_ + j * K + x);
      }
    }
  }

  // As BackThroughScalarProducts, in each channel:  prefix_i = a_i prefix_{i-1},  suffix_j = a_{j+1} suffix_{j+1}.
  void BackThroughChannelProducts() {
    const AttentionChunk<T>& c = c_;
    const hn::ScalableTag<T> d;
    const int64_t n = c.n, K = c.padded_K, lanes = static_cast<int64_t>(hn::Lanes(d));
    const auto add_to = [&](T* place, auto value) HWY_ATTR { hn::Store(hn::Add(hn::Load(d, place), value), d, place); };
    for (int64_t x = 0; has_state_ && x < K; x += lanes) {
      auto d_prefix = hn::Load(d, d_state_decay_ + x);
      for (int64_t i = n - 1; i >= 0; --i) {
        const int64_t at = i * K + x;
        d_prefix = hn::MulAdd(hn::Load(d, c.q + at), hn::Load(d, d_prefix_q_ + at), d_prefix);
        add_to(d_decay_ + at, i > 0 ? hn::Mul(d_prefix, hn::Load(d, c.prefix + at - K)) : d_prefix);
        d_prefix = hn::Mul(d_prefix, hn::Load(d, c.decay + at));
      }
    }
    for (int64_t x = 0; has_G_ && x < K; x += lanes) {
      auto d_suffix = hn::Zero(d);
      for (int64_t j = 0; j + 1 < n; ++j) {
        const int64_t at = j * K + x;
        d_suffix = hn::MulAdd(hn::Load(d, c.k + at), hn::Load(d, d_suffix_k_ + at), d_suffix);
        add_to(d_decay_ + at + K, hn::Mul(d_suffix, hn::Load(d, c.suffix + at + K)));
        d_suffix = hn::Mul(d_suffix, hn::Load(d, c.decay + at + K));
      }
    }
    if (has_state_) AddMultipliedRow(n * K, c.prefix, d_prefix_q_, d_q_);
    if (has_G_) AddMultipliedRow(n * K, c.suffix, d_suffix_k_, d_k_);
  }

  void Store(int64_t token, int64_t head) const {
    const AttentionChunk<T>& c = c_;
    const int64_t keys = c.H * c.K;
    c.StoreRows(d_q_, c.padded_K, c.K, out_.q + c.KeyGradient(token, head), keys);
    c.StoreRows(d_k_, c.padded_K, c.K, out_.k + c.KeyGradient(token, head), keys);
    c.StoreRows(d_v_, c.padded_V, c.V, out_.v + c.Value(token, head), c.H * c.V);
    c.StoreRows(d_decay_, c.decay_width, c.decays, out_.decay + c.Decay(token, head), c.H * c.decays);
  }

  AttentionChunk<T> c_;
  const T* chunk_states_;
  const T* d_o_;
  const T* d_final_state_;
  const LinearAttentionGradients<T>& out_;
  bool has_state_ = false;  // the state before the chunk is not 0 from the start
  bool has_G_ = false;      // nor the gradient of that after it

  ChunkScratch<T> scratch_;
  T* G_;                             // [K, V]
  T* r_;                             // [n, V] scale d_o: all that d_o flows into carries the scale through it
  T *transposed_r_, *transposed_v_;  // [V, n]
  T* transposed_;                    // [K, n]
  T* d_scores_;                      // [n, n]
  T* d_range_;                       // [n, n]
  T *d_prefix_q_, *d_suffix_k_;      // [n, K]
  T *d_q_, *d_k_;                    // [n, K]
  T* d_v_;                           // [n, V]
  T* d_decay_;                       // [n, K] or [n]
  T* d_state_decay_;                 // [K]
};

}  // namespace HWY_NAMESPACE
}  // namespace lrnn::kernels
HWY_AFTER_NAMESPACE();
#endif  // include guard
