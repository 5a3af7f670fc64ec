// The backward pass of linear attention with decay for one head, chunk by chunk from the last to the first, compiled
// once for each SIMD target. The gradient of a decay is taken back through the products it is a factor of, so it is
// finite where the decay is 0. docs/math/linear_attention.md.

#include <algorithm>

#include "lrnn/kernels/linear_attention.h"
#include "lrnn/kernels/linear_attention_channel_gradients-inl.h"
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

template <typename T>
class AttentionBackward {
 public:
  AttentionBackward(const LinearAttentionShape& shape, const LinearAttentionInputs<T>& in, const T* chunk_states,
                    const T* d_o, const T* d_final_state, const LinearAttentionGradients<T>& out,
                    const HeadRange& heads)
      : c_(shape, in, heads),
        chunk_states_(chunk_states),
        d_o_(d_o),
        d_final_state_(d_final_state),
        out_(out),
        scratch_({{&all_G_, heads.count() * c_.state_size},
                  {&r_, kMostChunkTokens * c_.padded_V},
                  {&transposed_r_, c_.padded_V * c_.padded_most},
                  {&transposed_v_, c_.padded_V * c_.padded_most},
                  {&transposed_, c_.padded_K * c_.padded_most},
                  {&d_scores_, kMostChunkTokens * c_.padded_most},
                  {&d_range_, kMostChunkTokens * c_.padded_most},
                  {&d_q_, kMostChunkTokens * c_.padded_K},
                  {&d_k_, kMostChunkTokens * c_.padded_K},
                  {&d_v_, kMostChunkTokens * c_.padded_V},
                  {&d_decay_, kMostChunkTokens * c_.decay_width},
                  {&dots_, std::max(kMostChunkTokens, c_.padded_K)}}),
        channel_gradients_(shape.decay_per_channel ? kMostChunkTokens : 0, c_.decay_width) {}

  // The heads take turns, chunk by chunk: what they read and write of a token lies side by side in memory.
  void Run(int64_t sequence, int64_t first_chunk_state) {
    const int64_t begin = c_.shape.cu_seqlens[sequence], end = c_.shape.cu_seqlens[sequence + 1];
    const int64_t most = ChunkTokens(c_.shape, end - begin);
    has_G_ = d_final_state_ != nullptr;
    if (has_G_) {
      ForEachHead([&](int64_t head) { c_.LoadState(d_final_state_ + c_.State(sequence, head), G_); });
    }
    for (int64_t chunk = (end - begin + most - 1) / most - 1; chunk >= 0; --chunk) {
      const T* states = chunk > 0             ? chunk_states_ + c_.State(first_chunk_state + chunk - 1, 0)
                        : c_.in.initial_state ? c_.in.initial_state + c_.State(sequence, 0)
                                              : nullptr;
      const int64_t token = begin + chunk * most, tokens = std::min(most, end - token);
      const bool needs_G = chunk > 0 || out_.initial_state;
      chunk > 0 ? Prefetch(token - most, most) : PrefetchLastChunk(sequence + 1);
      if (chunk > 1) c_.AddRows(states - c_.State(1, 0), c_.K * c_.V, 0, 1, c_.ahead);
      ForEachHead([&](int64_t head) {
        state_ = states ? states + c_.State(0, head) : nullptr;
        if (states && c_.V != c_.padded_V) {
          c_.LoadState(state_, c_.state);
          state_ = c_.state;
        }
        c_.Load(token, tokens, head, /*needs_prefix=*/states || needs_G, /*needs_suffix=*/has_G_);
        RunChunk(token, head, needs_G);
      });
      has_G_ = has_G_ || needs_G;
    }
    if (!out_.initial_state) return;
    ForEachHead([&](int64_t head) {
      T* d_initial = out_.initial_state + c_.State(sequence, head);
      if (has_G_) {
        c_.StoreState(G_, d_initial);
      } else {
        std::fill_n(d_initial, c_.K * c_.V, T{0});  // an empty sequence
      }
    });
  }

 private:
  // Calls body(head) with the G of that head.
  template <typename Body>
  void ForEachHead(const Body& body) {
    G_ = all_G_;
    for (int64_t head = c_.heads.begin; head < c_.heads.end; ++head, G_ += c_.state_size) body(head);
  }

  void PrefetchLastChunk(int64_t sequence) {
    const int64_t N = c_.shape.sequences, begin = c_.shape.cu_seqlens[std::min(sequence, N)];
    const int64_t tokens = sequence < N ? c_.shape.cu_seqlens[sequence + 1] - begin : 0;
    const int64_t most = ChunkTokens(c_.shape, tokens);
    const int64_t first = std::max<int64_t>(0, tokens - 1) / most * most;
    Prefetch(begin + first, tokens - first);
  }
  void Prefetch(int64_t token, int64_t tokens) {
    c_.ahead.Clear();
    c_.AddInputs(token, tokens);
    c_.AddRows(d_o_, c_.V, token, tokens, c_.ahead);
    c_.AddRows(out_.q, c_.K, token, tokens, c_.ahead);
    c_.AddRows(out_.k, c_.K, token, tokens, c_.ahead);
    c_.AddRows(out_.v, c_.V, token, tokens, c_.ahead);
    c_.AddRows(out_.decay, c_.decays, token, tokens, c_.ahead);
  }

  // On entry G_ is the gradient of the state after the chunk, on exit (when it is still needed) of that before it.
  void RunChunk(int64_t token, int64_t head, bool needs_G) {
    AttentionChunk<T>& c = c_;
    const int64_t n = c.n, K = c.padded_K, V = c.padded_V, C = c.padded_C, padded_n = c.Padded(n);
    c.LoadTokens(d_o_ + c.Value(token, head), c.H * c.V, c.V, c.in.scale, V, r_);
    Transpose(padded_n, c.V, c.v, V, transposed_v_, C);

    // Through the scores:  dP = r v^T.
    c.template Multiply<ProductStart::kZero, false>(ProductPart::kLowerC, n, padded_n, c.V, r_, V, transposed_v_, C,
                                                    d_scores_, C);
    // Through the states: prefix q reads the one before the chunk, suffix k writes the one after it.
    if (state_) {
      Transpose(padded_n, c.V, r_, V, transposed_r_, C);
      c.template Multiply<ProductStart::kZero, false>(ProductPart::kFull, c.K, padded_n, c.V, state_, V, transposed_r_,
                                                      C, transposed_, C);
      Transpose(K, padded_n, transposed_, C, d_q_, K);
    }
    if (has_G_) {
      c.template Multiply<ProductStart::kZero, false>(ProductPart::kFull, c.K, padded_n, c.V, G_, V, transposed_v_, C,
                                                      transposed_, C);
      Transpose(K, padded_n, transposed_, C, d_k_, K);
    }
    // With a decay a channel q's and k's gradients are written a vector here and there, waiting for lines not yet read.
    const bool in_place = K == c.K && !c.shape.decay_per_channel;
    to_q_ = in_place ? Rows{out_.q + c.KeyGradient(token, head), c.H * K} : Rows{d_q_, K};
    to_k_ = in_place ? Rows{out_.k + c.KeyGradient(token, head), c.H * K} : Rows{d_k_, K};
    to_v_ = V == c.V ? Rows{out_.v + c.Value(token, head), c.H * V} : Rows{d_v_, V};
    // dv = P^T r + (suffix k) G.
    if (has_G_) {
      c.template Multiply<ProductStart::kZero, false>(ProductPart::kFull, n, V, c.K, c.suffix_k, K, G_, V, d_v_, V);
      c.template Multiply<ProductStart::kAdd, true>(ProductPart::kUpperA, n, V, n, c.scores, C, r_, V, to_v_.first,
                                                    to_v_.stride, nullptr, d_v_, V);
    } else {
      c.template Multiply<ProductStart::kZero, true>(ProductPart::kUpperA, n, V, n, c.scores, C, r_, V, to_v_.first,
                                                     to_v_.stride);
    }
    c.shape.decay_per_channel ? BackThroughChannels() : BackThroughScalars();
    Store(token, head);

    if (!needs_G) return;
    if (has_G_) {
      c.template Multiply<ProductStart::kScaleRows, true>(ProductPart::kFull, c.K, V, n, c.prefix_q, K, r_, V, G_, V,
                                                          c.state_decay);
    } else {
      c.template Multiply<ProductStart::kZero, true>(ProductPart::kFull, c.K, V, n, c.prefix_q, K, r_, V, G_, V);
    }
  }

  // One decay a head:  P = range * qk:  d_range = dP * qk,  d_qk = dP * range (in place of dP);
  //   dq = prefix (S r) + d_qk k,   dk = suffix (G v) + d_qk^T q,
  // and back through the products of decays:  range_ij = a_i range_{i-1,j}  (suffix is its last row),
  //   prefix_i = a_i prefix_{i-1}.
  void BackThroughScalars() {
    AttentionChunk<T>& c = c_;
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
      RowDots(n, K, c.k, K, d_k_, K, dots_);
      for (int64_t j = 0; j < n; ++j) d_range_[(n - 1) * C + j] += dots_[j];
      c.template Multiply<ProductStart::kScaleRows, true>(ProductPart::kUpperA, n, K, n, d_scores_, C, c.q, K,
                                                          to_k_.first, to_k_.stride, c.suffix, d_k_, K);
    } else {
      c.template Multiply<ProductStart::kZero, true>(ProductPart::kUpperA, n, K, n, d_scores_, C, c.q, K, to_k_.first,
                                                     to_k_.stride);
    }
    BackThroughRange();
    if (!state_) {
      c.template Multiply<ProductStart::kZero, false>(ProductPart::kLowerA, n, K, n, d_scores_, C, c.k, K, to_q_.first,
                                                      to_q_.stride);
      return;
    }
    T d_prefix = has_G_ ? RowDot(c.K * c.padded_V, G_, state_) : T{0};
    RowDots(n, K, c.q, K, d_q_, K, dots_);
    for (int64_t i = n - 1; i >= 0; --i) {
      d_prefix += dots_[i];
      d_decay_[i] += d_prefix * (i > 0 ? c.prefix[i - 1] : T{1});
      d_prefix *= c.decay[i];
    }
    c.template Multiply<ProductStart::kScaleRows, false>(ProductPart::kLowerA, n, K, n, d_scores_, C, c.k, K,
                                                         to_q_.first, to_q_.stride, c.prefix, d_q_, K);
  }

  // range_ij = a_i range_{i-1,j}:  d_a_i = sum_j d_range_ij range_{i-1,j},  d_range_{i-1,j} += a_i d_range_ij.
  void BackThroughRange() {
    const AttentionChunk<T>& c = c_;
    const hn::ScalableTag<T> d;
    const int64_t n = c.n, C = c.padded_C, lanes = static_cast<int64_t>(hn::Lanes(d));
    std::fill_n(d_decay_, n, T{0});
    for (int64_t j = 0; j < n; j += lanes) {
      auto d_range = hn::Zero(d);
      int64_t i = n - 1;
      // Elements of d_range right of the diagonal meet those of range, which are 0.
      const auto step = [&](int64_t row) HWY_ATTR {
        d_range = hn::Add(d_range, hn::Load(d, d_range_ + row * C + j));
        const auto d_a = hn::Mul(d_range, hn::Load(d, c.range + (row - 1) * C + j));
        d_range = hn::Mul(d_range, hn::Set(d, c.decay[row]));
        return d_a;
      };
      for (; i - 4 >= j; i -= 4) {
        const hn::Vec<hn::ScalableTag<T>> d_a[4] = {step(i), step(i - 1), step(i - 2), step(i - 3)};
        T sums[4];
        SumLanesOfFour<T>(d_a, sums);
        for (int x = 0; x < 4; ++x) d_decay_[i - x] += sums[x];
      }
      for (; i > j; --i) d_decay_[i] += hn::GetLane(hn::SumOfLanes(d, step(i)));
    }
  }

  void BackThroughChannels() {
    AttentionChunk<T>& c = c_;
    const int64_t size = c.n * c.padded_K;
    if (!state_) std::fill_n(d_q_, size, T{0});
    if (!has_G_) std::fill_n(d_k_, size, T{0});
    const bool has_inner = state_ && has_G_;
    if (has_inner) RowDots(c.K, c.padded_V, G_, c.padded_V, state_, c.padded_V, dots_);
    channel_gradients_.Run(c.Channels(), d_scores_, c.padded_C, has_inner ? dots_ : nullptr, d_q_, d_k_, d_decay_);
  }

  void Store(int64_t token, int64_t head) const {
    const AttentionChunk<T>& c = c_;
    const auto store = [&](int64_t width, const Rows& from, T* to) {
      if (from.first != to) ScaleRows(c.n, width, T{1}, from.first, from.stride, to, c.H * width);
    };
    store(c.K, to_q_, out_.q + c.KeyGradient(token, head));
    store(c.K, to_k_, out_.k + c.KeyGradient(token, head));
    store(c.V, to_v_, out_.v + c.Value(token, head));
    store(c.decays, {d_decay_, c.decay_width}, out_.decay + c.Decay(token, head));
  }

  AttentionChunk<T> c_;
  const T* chunk_states_;
  const T* d_o_;
  const T* d_final_state_;
  const LinearAttentionGradients<T>& out_;
  const T* state_ = nullptr;  // [K, V] before the chunk, rows of padded_V; null: 0
  bool has_G_ = false;        // the gradient of the state after the chunk is not 0

  ChunkScratch<T> scratch_;
  T* all_G_;                         // [heads, K, V]
  T* G_;                             // [K, V] of the current head
  T* r_;                             // [n, V] scale d_o: all that d_o flows into carries the scale through it
  T *transposed_r_, *transposed_v_;  // [V, n]
  T* transposed_;                    // [K, n]
  T* d_scores_;                      // [n, n]
  T* d_range_;                       // [n, n]
  T *d_q_, *d_k_;                    // [n, K] first of prefix q and suffix k: S r and G v
  T* d_v_;                           // [n, V]
  T* d_decay_;                       // [n, K] or [n]
  // Where products write the gradients: rows of whole vectors to where they belong, others to the memory above.
  struct Rows {
    T* first;
    int64_t stride;
  };
  Rows to_q_, to_k_, to_v_;
  T* dots_;  // [n] or [K]
  ChannelGradients<T> channel_gradients_;
};

}  // namespace HWY_NAMESPACE
}  // namespace lrnn::kernels
HWY_AFTER_NAMESPACE();
#endif  // include guard
