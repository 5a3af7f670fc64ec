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
      const bool writes_state = !last || final_state_;
      c.Load(token, tokens, head, /*ahead=*/tokens, /*needs_prefix=*/has_state, /*needs_suffix=*/writes_state);
      const int64_t n = c.n, K = c.padded_K, V = c.padded_V;
      Product<ProductStart::kZero, false>(ProductPart::kLowerA, n, V, n, c.scores, c.padded_C, c.v, V, read_, V);
      if (has_state) {
        Product<ProductStart::kAdd, false>(ProductPart::kFull, n, V, c.K, c.prefix_q, K, c.state, V, read_, V);
      }
      ScaleRows(n, c.V, c.in.scale, read_, V, o_ + c.Value(token, head), c.H * c.V);
      if (!writes_state) break;
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
