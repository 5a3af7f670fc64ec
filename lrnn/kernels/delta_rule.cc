#include "lrnn/kernels/delta_rule.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lrnn/kernels/delta_rule.cc"
#include <hwy/aligned_allocator.h>
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include "lrnn/kernels/delta_rule-inl.h"
#include "lrnn/kernels/delta_rule_backward-inl.h"
#include "lrnn/kernels/sequence_groups.h"

HWY_BEFORE_NAMESPACE();
namespace lrnn::kernels {
namespace HWY_NAMESPACE {

// body(number of reads of a chunk, as a constant)
template <typename Body>
void WithReads(int64_t householders, const Body& body) {
  switch (ChunkPlan(householders).reads) {
    case 4:
      return body(std::integral_constant<int, 4>());
    case 2:
      return body(std::integral_constant<int, 2>());
    default:
      return body(std::integral_constant<int, 1>());
  }
}

// The sequences of a group, for one head; first_saved[i] is the index of the first saved state of sequence i.
template <typename T>
void Forward(const DeltaRuleShape& shape, const DeltaRuleInputs<T>& in, T* o, T* final_state,
             const DeltaRuleSaved<T>& saved, const SequenceGroup& group, int64_t head, const int64_t* first_saved) {
  WithReads(shape.householders, [&](auto reads) {
    ForwardPass<reads.value, T> pass(shape, in, o, final_state, saved, head);
    for (int64_t i = group.begin; i < group.end; ++i) pass.Run(i, first_saved[i]);
  });
}

template <typename T>
void Backward(const DeltaRuleShape& shape, const DeltaRuleInputs<T>& in, const DeltaRuleSaved<T>& saved, const T* d_o,
              const T* d_final_state, const DeltaRuleGradients<T>& out, const SequenceGroup& group, int64_t head,
              const int64_t* first_saved) {
  WithReads(shape.householders, [&](auto reads) {
    BackwardPass<reads.value, T> pass(shape, in, saved, d_o, d_final_state, out, group, head);
    for (int64_t i = group.begin; i < group.end; ++i) pass.Run(i, first_saved[i]);
  });
}

void ForwardF32(const DeltaRuleShape& shape, const DeltaRuleInputs<float>& in, float* o, float* final_state,
                const DeltaRuleSaved<float>& saved, const SequenceGroup& group, int64_t head, const int64_t* first) {
  Forward(shape, in, o, final_state, saved, group, head, first);
}
void ForwardF64(const DeltaRuleShape& shape, const DeltaRuleInputs<double>& in, double* o, double* final_state,
                const DeltaRuleSaved<double>& saved, const SequenceGroup& group, int64_t head, const int64_t* first) {
  Forward(shape, in, o, final_state, saved, group, head, first);
}
void BackwardF32(const DeltaRuleShape& shape, const DeltaRuleInputs<float>& in, const DeltaRuleSaved<float>& saved,
                 const float* d_o, const float* d_final_state, const DeltaRuleGradients<float>& out,
                 const SequenceGroup& group, int64_t head, const int64_t* first) {
  Backward(shape, in, saved, d_o, d_final_state, out, group, head, first);
}
void BackwardF64(const DeltaRuleShape& shape, const DeltaRuleInputs<double>& in, const DeltaRuleSaved<double>& saved,
                 const double* d_o, const double* d_final_state, const DeltaRuleGradients<double>& out,
                 const SequenceGroup& group, int64_t head, const int64_t* first) {
  Backward(shape, in, saved, d_o, d_final_state, out, group, head, first);
}

}  // namespace HWY_NAMESPACE
}  // namespace lrnn::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <vector>

#include "lrnn/base/parallel.h"

namespace lrnn::kernels {

HWY_EXPORT(ForwardF32);
HWY_EXPORT(ForwardF64);
HWY_EXPORT(BackwardF32);
HWY_EXPORT(BackwardF64);

namespace {

// A task is worth its start from about this many tokens of one head on.
constexpr int64_t kTokensPerTask = 256;

// first[i]: the index of the first saved state of sequence i; the last entry is the number of saved states.
std::vector<int64_t> FirstSavedStates(const DeltaRuleShape& shape) {
  const ChunkPlan plan(shape.householders);
  std::vector<int64_t> first(shape.sequences + 1);
  for (int64_t i = 0; i < shape.sequences; ++i) {
    first[i + 1] = first[i] + SavedStates(plan.ChunksOf(shape.cu_seqlens[i + 1] - shape.cu_seqlens[i]));
  }
  return first;
}

// Calls body(group of sequences, head, first saved states) for all sequences and heads.
template <typename Body>
void ForEachGroupAndHead(const DeltaRuleShape& shape, int threads, const Body& body) {
  const std::vector<int64_t> first = FirstSavedStates(shape);
  const auto groups = GroupSequences(shape.cu_seqlens, shape.sequences, kTokensPerTask);
  ParallelFor(static_cast<int64_t>(groups.size()) * shape.heads, threads,
              [&](int64_t task) { body(groups[task / shape.heads], task % shape.heads, first.data()); });
}

}  // namespace

int64_t DeltaRuleSavedStates(const DeltaRuleShape& shape) { return FirstSavedStates(shape).back(); }

void DeltaRuleForward(const DeltaRuleShape& shape, const DeltaRuleInputs<float>& in, float* o, float* final_state,
                      const DeltaRuleSaved<float>& saved, int threads) {
  ForEachGroupAndHead(shape, threads, [&](const SequenceGroup& group, int64_t head, const int64_t* first) {
    HWY_DYNAMIC_DISPATCH(ForwardF32)(shape, in, o, final_state, saved, group, head, first);
  });
}

void DeltaRuleForward(const DeltaRuleShape& shape, const DeltaRuleInputs<double>& in, double* o, double* final_state,
                      const DeltaRuleSaved<double>& saved, int threads) {
  ForEachGroupAndHead(shape, threads, [&](const SequenceGroup& group, int64_t head, const int64_t* first) {
    HWY_DYNAMIC_DISPATCH(ForwardF64)(shape, in, o, final_state, saved, group, head, first);
  });
}

void DeltaRuleBackward(const DeltaRuleShape& shape, const DeltaRuleInputs<float>& in,
                       const DeltaRuleSaved<float>& saved, const float* d_o, const float* d_final_state,
                       const DeltaRuleGradients<float>& gradients, int threads) {
  ForEachGroupAndHead(shape, threads, [&](const SequenceGroup& group, int64_t head, const int64_t* first) {
    HWY_DYNAMIC_DISPATCH(BackwardF32)(shape, in, saved, d_o, d_final_state, gradients, group, head, first);
  });
}

void DeltaRuleBackward(const DeltaRuleShape& shape, const DeltaRuleInputs<double>& in,
                       const DeltaRuleSaved<double>& saved, const double* d_o, const double* d_final_state,
                       const DeltaRuleGradients<double>& gradients, int threads) {
  ForEachGroupAndHead(shape, threads, [&](const SequenceGroup& group, int64_t head, const int64_t* first) {
    HWY_DYNAMIC_DISPATCH(BackwardF64)(shape, in, saved, d_o, d_final_state, gradients, group, head, first);
  });
}

}  // namespace lrnn::kernels
#endif  // HWY_ONCE
