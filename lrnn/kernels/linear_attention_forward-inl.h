// The forward pass of linear attention with decay for one head, chunk by chunk, compiled once for each SIMD target.

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

// Chunk by chunk.
template <typename T>
class ChunkedForward {
 public:
  ChunkedForward(const LinearAttentionShape& shape, const LinearAttentionInputs<T>& in, T* o, T* final_state,
                 T* chunk_states, const HeadRange& heads)
      : chunk_(shape, in, heads),
        o_(o),
        final_state_(final_state),
        chunk_states_(chunk_states),
        scratch_({{&states_, heads.count() * chunk_.state_size}, {&read_, kMostChunkTokens * chunk_.padded_V}}) {}

  // The heads take turns, chunk by chunk: what they read and write of a token lies side by side in memory.
  void Run(int64_t sequence, int64_t chunk_state) {
    AttentionChunk<T>& c = chunk_;
    const int64_t begin = c.shape.cu_seqlens[sequence], end = c.shape.cu_seqlens[sequence + 1];
    const int64_t most = ChunkTokens(c.shape, end - begin);
    bool has_state = c.in.initial_state != nullptr;
    if (has_state) {
      ForEachHead([&](int64_t head, T* state) { c.LoadState(c.in.initial_state + c.State(sequence, head), state); });
    }
    for (int64_t token = begin; token < end; token += most) {
      const int64_t tokens = std::min(most, end - token), next = token + tokens;
      const int64_t next_tokens = std::min(most, c.shape.cu_seqlens[c.shape.sequences] - next);
      c.ahead.Clear();
      c.AddInputs(next, next_tokens);
      c.AddRows(o_, c.V, next, next_tokens, c.ahead);
      const bool saves = chunk_states_ && token > begin, writes_state = next < end || final_state_;
      ForEachHead([&](int64_t head, T* state) {
        if (saves) c.StoreState(state, chunk_states_ + c.State(chunk_state, head));
        c.Load(token, tokens, head, /*needs_prefix=*/has_state, /*needs_suffix=*/writes_state);
        RunChunk(token, head, has_state, writes_state, state);
      });
      chunk_state += saves;
      has_state = true;
    }
    if (!final_state_) return;
    ForEachHead([&](int64_t head, T* state) {
      T* final_state = final_state_ + c.State(sequence, head);
      if (has_state) {
        c.StoreState(state, final_state);
      } else {
        std::fill_n(final_state, c.K * c.V, T{0});  // an empty sequence
      }
    });
  }

 private:
  // Calls body(head, its state).
  template <typename Body>
  void ForEachHead(const Body& body) {
    T* state = states_;
    for (int64_t head = chunk_.heads.begin; head < chunk_.heads.end; ++head, state += chunk_.state_size) {
      body(head, state);
    }
  }

  void RunChunk(int64_t token, int64_t head, bool has_state, bool writes_state, T* state) {
    AttentionChunk<T>& c = chunk_;
    const int64_t n = c.n, K = c.padded_K, V = c.padded_V;
    c.template Multiply<ProductStart::kZero, false>(ProductPart::kLowerA, n, V, n, c.scores, c.padded_C, c.v, V, read_,
                                                    V);
    if (has_state) {
      c.template Multiply<ProductStart::kAdd, false>(ProductPart::kFull, n, V, c.K, c.prefix_q, K, state, V, read_, V);
    }
    ScaleRows(n, c.V, c.in.scale, read_, V, o_ + c.Value(token, head), c.H * c.V);
    if (!writes_state) return;
    if (has_state) {
      c.template Multiply<ProductStart::kScaleRows, true>(ProductPart::kFull, c.K, V, n, c.suffix_k, K, c.v, V, state,
                                                          V, c.state_decay);
    } else {
      c.template Multiply<ProductStart::kZero, true>(ProductPart::kFull, c.K, V, n, c.suffix_k, K, c.v, V, state, V);
    }
  }

  AttentionChunk<T> chunk_;
  T* o_;
  T* final_state_;
  T* chunk_states_;
  ChunkScratch<T> scratch_;
  T* states_;  // [heads, K, V]
  T* read_;    // [n, V] o before its scale
};

}  // namespace HWY_NAMESPACE
}  // namespace lrnn::kernels
HWY_AFTER_NAMESPACE();
#endif  // include guard
