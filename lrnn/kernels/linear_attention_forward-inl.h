// The forward pass of linear attention with decay for one head, token by token and chunk by chunk, compiled once for
// each SIMD target. docs/math/linear_attention.md says which is faster where.

#include <algorithm>

#include "lrnn/kernels/linear_attention.h"
#include "lrnn/kernels/linear_attention_chunk-inl.h"

#if defined(LRNN_KERNELS_LINEAR_ATTENTION_FORWARD_INL_) == defined(HWY_TARGET_TOGGLE)
#ifdef LRNN_KERNELS_LINEAR_ATTENTION_FORWARD_INL_
#undef LRNN_KERNELS_LINEAR_ATTENTION_FORWARD_INL_
#else
#define LRNN_KERNELS_LINEAR_ATTENTION_FORWARD_INL_
#endif

HWY_BEFORE_NAMESPACE();
namespace lrnn::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Token by token. The columns of S do not know of each other, so a tile of them stays in the first-level cache and is
// swept once a token: 3 operations an element, none of them on the decay's logarithm.
template <typename T>
class RecurrentForward : public AttentionRows {
 public:
  RecurrentForward(const LinearAttentionShape& shape, const LinearAttentionInputs<T>& in, T* o, T* final_state,
                   T* chunk_states)
      : AttentionRows(shape),
        shape_(shape),
        in_(in),
        o_(o),
        final_state_(final_state),
        chunk_states_(chunk_states),
        scratch_({{&tile_, K * kTile}, {&v_, kTile}, {&read_, kTile}}) {}

  void Run(int64_t sequence, int64_t head, int64_t first_chunk_state) {
    for (int64_t column = 0; column < V; column += kTile) RunTile(sequence, head, first_chunk_state, column);
  }

 private:
  using D = hn::ScalableTag<T>;
  // 4 vectors of v, of o and of S, and 3 broadcasts fill 16 registers; a wider vector needs half as many to hide the
  // latency.
  static constexpr size_t kVectors = hn::MaxLanes(D()) >= 16 ? 2 : 4;
  static constexpr int64_t kTile = static_cast<int64_t>(kVectors * hn::MaxLanes(D()));

  void RunTile(int64_t sequence, int64_t head, int64_t chunk_state, int64_t column) {
    const int64_t begin = shape_.cu_seqlens[sequence], end = shape_.cu_seqlens[sequence + 1];
    const int64_t columns = std::min(kTile, V - column), chunk = ChunkTokens(end - begin);
    const auto store = [&](T* state) HWY_ATTR {
      for (int64_t i = 0; i < K; ++i) CopyRow(columns, tile_ + i * kTile, state + i * V + column);
    };
    std::fill_n(tile_, K * kTile, T{0});
    if (in_.initial_state) {
      const T* state = in_.initial_state + State(sequence, head) + column;
      for (int64_t i = 0; i < K; ++i) CopyRow(columns, state + i * V, tile_ + i * kTile);
    }
    for (int64_t token = begin; token < end; ++token) {
      if (chunk_states_ && token > begin && (token - begin) % chunk == 0) {
        store(chunk_states_ + State(chunk_state++, head));
      }
      const T* a = in_.decay + Decay(token, head);
      const T *q = in_.q + Key(token, head), *k = in_.k + Key(token, head);
      CopyRow(columns, in_.v + Value(token, head) + column, v_);
      PrefetchToken(token + kAhead, head, column, columns);
      shape_.decay_per_channel ? Sweep<true>(a, q, k) : Sweep<false>(a, q, k);
      CopyRow(columns, read_, o_ + Value(token, head) + column);
    }
    if (final_state_) store(final_state_ + State(sequence, head));
  }

  // What a later token, of this sequence or the next, reads and writes.
  static constexpr int64_t kAhead = 4;
  HWY_INLINE void PrefetchToken(int64_t token, int64_t head, int64_t column, int64_t columns) const {
    PrefetchRow(in_.decay + Decay(token, head), decays);
    PrefetchRow(in_.q + Key(token, head), K);
    PrefetchRow(in_.k + Key(token, head), K);
    PrefetchRow(in_.v + Value(token, head) + column, columns);
    PrefetchRow(o_ + Value(token, head) + column, columns);
  }

  // S <- Diag(a) S + k v^T,   read = scale S^T q
  template <bool kPerChannel>
  HWY_INLINE void Sweep(const T* HWY_RESTRICT a, const T* HWY_RESTRICT q, const T* HWY_RESTRICT k) {
    const D d;
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
    hn::Vec<D> v[kVectors], o[kVectors];
#pragma GCC unroll 4
    for (size_t j = 0; j < kVectors; ++j) {
      v[j] = hn::Load(d, v_ + j * lanes);
      o[j] = hn::Zero(d);
    }
    for (int64_t i = 0; i < K; ++i) {
      const auto ai = hn::Set(d, a[kPerChannel ? i : 0]), ki = hn::Set(d, k[i]), qi = hn::Set(d, q[i]);
      T* HWY_RESTRICT row = tile_ + i * kTile;
#pragma GCC unroll 4
      for (size_t j = 0; j < kVectors; ++j) {
        const auto s = hn::MulAdd(ki, v[j], hn::Mul(ai, hn::Load(d, row + j * lanes)));
        hn::Store(s, d, row + j * lanes);
        o[j] = hn::MulAdd(qi, s, o[j]);
      }
    }
    const auto scale = hn::Set(d, in_.scale);
#pragma GCC unroll 4
    for (size_t j = 0; j < kVectors; ++j) hn::Store(hn::Mul(scale, o[j]), d, read_ + j * lanes);
  }

  const LinearAttentionShape& shape_;
  const LinearAttentionInputs<T>& in_;
  T* o_;
  T* final_state_;
  T* chunk_states_;
  ChunkScratch<T> scratch_;
  T* tile_;  // [K, kTile]
  T* v_;     // [kTile]
  T* read_;  // [kTile]
};

// Chunk by chunk.
template <typename T>
class ChunkedForward {
 public:
  ChunkedForward(const LinearAttentionShape& shape, const LinearAttentionInputs<T>& in, T* o, T* final_state,
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
      const int64_t tokens = std::min(most, end - token);
      c.Load(token, tokens, head, /*ahead=*/tokens);
      const int64_t n = c.n, K = c.padded_K, V = c.padded_V;
      Product<ProductStart::kZero, false>(ProductPart::kLowerA, n, V, n, c.scores, c.padded_C, c.v, V, read_, V);
      if (has_state) {
        Product<ProductStart::kAdd, false>(ProductPart::kFull, n, V, c.K, c.prefix_q, K, c.state, V, read_, V);
      }
      ScaleRow(n * V, c.in.scale, read_, read_);
      c.StoreRows(read_, V, c.V, o_ + c.Value(token, head), c.H * c.V);
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
