#include "lrnn/kernels/linear_attention.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lrnn/kernels/linear_attention.cc"
#include <hwy/aligned_allocator.h>
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include "lrnn/kernels/linear_attention_backward-inl.h"
#include "lrnn/kernels/linear_attention_forward-inl.h"
#include "lrnn/kernels/linear_attention_sweep-inl.h"
#include "lrnn/kernels/sequence_groups.h"

HWY_BEFORE_NAMESPACE();
namespace lrnn::kernels {
namespace HWY_NAMESPACE {

// Measured: sweeps are faster but for the widest states, and for sequences of one chunk, which need no state at all; a
// small state is worth less than the scores of a chunk with a decay a channel.
inline bool IsRecurrent(const LinearAttentionShape& shape, bool has_initial_state) {
  if (shape.form != LinearAttentionForm::kAuto) return shape.form == LinearAttentionForm::kRecurrent;
  const bool is_short = shape.cu_seqlens[shape.sequences] <= shape.sequences * kMostChunkTokens;
  const bool has_small_state = shape.key_width * shape.value_width <= 32 * 32;
  return is_short && !has_initial_state ? shape.decay_per_channel && has_small_state : !HasWideState(shape);
}

// All sequences of a group, some heads. first_chunk_state: [N], of all sequences.
template <typename T>
void AttentionForwardGroup(const LinearAttentionShape& shape, const LinearAttentionInputs<T>& in, T* o, T* final_state,
                           T* chunk_states, const SequenceGroup& group, const HeadRange& heads,
                           const int64_t* first_chunk_state) {
  if (IsRecurrent(shape, in.initial_state)) {
    SweepForward<T> pass(shape, in, o, final_state, chunk_states, heads);
    for (int64_t i = group.begin; i < group.end; ++i) pass.Run(i, first_chunk_state[i]);
  } else {
    ChunkedForward<T> pass(shape, in, o, final_state, chunk_states, heads);
    for (int64_t i = group.begin; i < group.end; ++i) pass.Run(i, first_chunk_state[i]);
  }
}

template <typename T>
void AttentionBackwardGroup(const LinearAttentionShape& shape, const LinearAttentionInputs<T>& in,
                            const T* chunk_states, const T* d_o, const T* d_final_state,
                            const LinearAttentionGradients<T>& out, const SequenceGroup& group, const HeadRange& heads,
                            const int64_t* first_chunk_state) {
  AttentionBackward<T> pass(shape, in, chunk_states, d_o, d_final_state, out, heads);
  for (int64_t i = group.begin; i < group.end; ++i) pass.Run(i, first_chunk_state[i]);
}

void AttentionForwardF32(const LinearAttentionShape& shape, const LinearAttentionInputs<float>& in, float* o,
                         float* final_state, float* chunk_states, const SequenceGroup& group, const HeadRange& heads,
                         const int64_t* first) {
  AttentionForwardGroup(shape, in, o, final_state, chunk_states, group, heads, first);
}
void AttentionForwardF64(const LinearAttentionShape& shape, const LinearAttentionInputs<double>& in, double* o,
                         double* final_state, double* chunk_states, const SequenceGroup& group, const HeadRange& heads,
                         const int64_t* first) {
  AttentionForwardGroup(shape, in, o, final_state, chunk_states, group, heads, first);
}
void AttentionBackwardF32(const LinearAttentionShape& shape, const LinearAttentionInputs<float>& in,
                          const float* chunk_states, const float* d_o, const float* d_final_state,
                          const LinearAttentionGradients<float>& out, const SequenceGroup& group,
                          const HeadRange& heads, const int64_t* first) {
  AttentionBackwardGroup(shape, in, chunk_states, d_o, d_final_state, out, group, heads, first);
}
void AttentionBackwardF64(const LinearAttentionShape& shape, const LinearAttentionInputs<double>& in,
                          const double* chunk_states, const double* d_o, const double* d_final_state,
                          const LinearAttentionGradients<double>& out, const SequenceGroup& group,
                          const HeadRange& heads, const int64_t* first) {
  AttentionBackwardGroup(shape, in, chunk_states, d_o, d_final_state, out, group, heads, first);
}

}  // namespace HWY_NAMESPACE
}  // namespace lrnn::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <vector>

#include "lrnn/kernels/parallel_tasks.h"

namespace lrnn::kernels {

HWY_EXPORT(AttentionForwardF32);
HWY_EXPORT(AttentionForwardF64);
HWY_EXPORT(AttentionBackwardF32);
HWY_EXPORT(AttentionBackwardF64);

namespace {

// A task is worth its start and scratch memory from about this many tokens of one head on.
constexpr int64_t kTokensPerTask = 256;

// first[i]: the index of the first saved state of sequence i.
std::vector<int64_t> FirstChunkStates(const LinearAttentionShape& shape) {
  std::vector<int64_t> first(shape.sequences + 1);
  for (int64_t i = 0; i < shape.sequences; ++i) {
    const int64_t tokens = shape.cu_seqlens[i + 1] - shape.cu_seqlens[i], chunk = ChunkTokens(shape, tokens);
    // The first chunk starts from the initial state.
    first[i + 1] = first[i] + std::max<int64_t>(0, (tokens + chunk - 1) / chunk - 1);
  }
  return first;
}

// The heads of a task take turns, chunk by chunk, so that it reads and writes whole stretches of memory: as many as
// leave room in the second-level cache for their states and for the rows of this chunk and the next, but no more than
// give each thread a few tasks. What is computed for a head does not depend on it.
int64_t HeadsPerTask(const LinearAttentionShape& shape, int64_t groups, int threads) {
  constexpr int64_t kCacheBytes = 1 << 20, kTasksPerThread = 4;
  const int64_t K = shape.key_width, V = shape.value_width, decays = shape.decay_per_channel ? K : 1;
  const int64_t numbers = 2 * K * V + 2 * ChunkTokens(shape, kMostChunkTokens + 1) * (4 * K + 3 * V + 2 * decays);
  int64_t heads = kCacheBytes / (static_cast<int64_t>(sizeof(float)) * numbers);
  if (threads > 1) heads = std::min(heads, shape.heads * groups / (kTasksPerThread * threads));
  return std::clamp<int64_t>(heads, 1, shape.heads);
}

// Calls body(group of sequences, heads, first saved states) for all of them.
template <typename Body>
void ForEachGroupAndHeads(const LinearAttentionShape& shape, int threads, const Body& body) {
  const std::vector<int64_t> first = FirstChunkStates(shape);
  const auto groups = GroupSequences(shape.cu_seqlens, shape.sequences, kTokensPerTask);
  const int64_t group_count = static_cast<int64_t>(groups.size());
  const int64_t heads = HeadsPerTask(shape, group_count, threads), blocks = (shape.heads + heads - 1) / heads;
  ParallelTasks(group_count * blocks, threads, [&](int64_t task) {
    const int64_t begin = task % blocks * heads;
    body(groups[task / blocks], HeadRange{begin, std::min(shape.heads, begin + heads)}, first.data());
  });
}

}  // namespace

int64_t LinearAttentionChunkStates(const LinearAttentionShape& shape) { return FirstChunkStates(shape).back(); }

void LinearAttentionForward(const LinearAttentionShape& shape, const LinearAttentionInputs<float>& in, float* o,
                            float* final_state, float* chunk_states, int threads) {
  ForEachGroupAndHeads(shape, threads, [&](const SequenceGroup& group, const HeadRange& heads, const int64_t* first) {
    HWY_DYNAMIC_DISPATCH(AttentionForwardF32)(shape, in, o, final_state, chunk_states, group, heads, first);
  });
}

void LinearAttentionForward(const LinearAttentionShape& shape, const LinearAttentionInputs<double>& in, double* o,
                            double* final_state, double* chunk_states, int threads) {
  ForEachGroupAndHeads(shape, threads, [&](const SequenceGroup& group, const HeadRange& heads, const int64_t* first) {
    HWY_DYNAMIC_DISPATCH(AttentionForwardF64)(shape, in, o, final_state, chunk_states, group, heads, first);
  });
}

void LinearAttentionBackward(const LinearAttentionShape& shape, const LinearAttentionInputs<float>& in,
                             const float* chunk_states, const float* d_o, const float* d_final_state,
                             const LinearAttentionGradients<float>& gradients, int threads) {
  ForEachGroupAndHeads(shape, threads, [&](const SequenceGroup& group, const HeadRange& heads, const int64_t* first) {
    HWY_DYNAMIC_DISPATCH(AttentionBackwardF32)
    (shape, in, chunk_states, d_o, d_final_state, gradients, group, heads, first);
  });
}

void LinearAttentionBackward(const LinearAttentionShape& shape, const LinearAttentionInputs<double>& in,
                             const double* chunk_states, const double* d_o, const double* d_final_state,
                             const LinearAttentionGradients<double>& gradients, int threads) {
  ForEachGroupAndHeads(shape, threads, [&](const SequenceGroup& group, const HeadRange& heads, const int64_t* first) {
    HWY_DYNAMIC_DISPATCH(AttentionBackwardF64)
    (shape, in, chunk_states, d_o, d_final_state, gradients, group, heads, first);
  });
}

}  // namespace lrnn::kernels
#endif  // HWY_ONCE
