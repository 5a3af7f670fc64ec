#include "lrnn/kernels/delta_rule.h"

#include <algorithm>
#include <limits>
#include <vector>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lrnn/kernels/delta_rule.cc"
#include <hwy/aligned_allocator.h>
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include "lrnn/kernels/delta_rule_backward-inl.h"
#include "lrnn/kernels/delta_rule_forward-inl.h"
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

// The sequences of a group, for some heads; first_saved[i] is the index of the first saved state of sequence i.
template <typename T>
void Forward(const DeltaRuleShape& shape, const DeltaRuleInputs<T>& in, T* o, T* final_state,
             const DeltaRuleSaved<T>& saved, const SequenceGroup& group, const HeadRange& heads,
             const int64_t* first_saved) {
  std::vector<ForwardPass<T>> passes;
  passes.reserve(heads.count());
  for (int64_t head = heads.begin; head < heads.end; ++head) {
    passes.emplace_back(shape, in, o, final_state, saved, head);
  }
  for (int64_t i = group.begin; i < group.end; ++i) {
    for (ForwardPass<T>& pass : passes) pass.Start(i, first_saved[i]);
    for (bool runs = true; runs;) {
      runs = false;
      for (ForwardPass<T>& pass : passes) runs |= pass.RunNext();
    }
    for (ForwardPass<T>& pass : passes) pass.Finish();
  }
}

template <typename T>
void Backward(const DeltaRuleShape& shape, const DeltaRuleInputs<T>& in, const DeltaRuleSaved<T>& saved, const T* d_o,
              const T* d_final_state, const DeltaRuleGradients<T>& out, const SequenceGroup& group,
              const HeadRange& heads, const int64_t* first_saved) {
  WithReads(shape.householders, [&](auto reads) {
    BackwardPass<reads.value, T> pass(shape, in, saved, d_o, d_final_state, out, group, heads);
    for (int64_t i = group.begin; i < group.end; ++i) pass.Run(i, first_saved[i]);
  });
}

void ForwardF32(const DeltaRuleShape& shape, const DeltaRuleInputs<float>& in, float* o, float* final_state,
                const DeltaRuleSaved<float>& saved, const SequenceGroup& group, const HeadRange& heads,
                const int64_t* first) {
  Forward(shape, in, o, final_state, saved, group, heads, first);
}
void ForwardF64(const DeltaRuleShape& shape, const DeltaRuleInputs<double>& in, double* o, double* final_state,
                const DeltaRuleSaved<double>& saved, const SequenceGroup& group, const HeadRange& heads,
                const int64_t* first) {
  Forward(shape, in, o, final_state, saved, group, heads, first);
}
void BackwardF32(const DeltaRuleShape& shape, const DeltaRuleInputs<float>& in, const DeltaRuleSaved<float>& saved,
                 const float* d_o, const float* d_final_state, const DeltaRuleGradients<float>& out,
                 const SequenceGroup& group, const HeadRange& heads, const int64_t* first) {
  Backward(shape, in, saved, d_o, d_final_state, out, group, heads, first);
}
void BackwardF64(const DeltaRuleShape& shape, const DeltaRuleInputs<double>& in, const DeltaRuleSaved<double>& saved,
                 const double* d_o, const double* d_final_state, const DeltaRuleGradients<double>& out,
                 const SequenceGroup& group, const HeadRange& heads, const int64_t* first) {
  Backward(shape, in, saved, d_o, d_final_state, out, group, heads, first);
}

}  // namespace HWY_NAMESPACE
}  // namespace lrnn::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "lrnn/kernels/parallel_tasks.h"

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
    first[i + 1] =
        first[i] + SavedStates(plan.ChunksOf(shape.cu_seqlens[i + 1] - shape.cu_seqlens[i]), shape.key_width);
  }
  return first;
}

// As many heads to a task, up to `most`, as keep all threads busy: the largest number of those with which the slowest
// thread has the fewest heads to do.
int64_t FewestRounds(int64_t groups, int64_t heads, int threads, int64_t most) {
  int64_t best = 1, fewest = std::numeric_limits<int64_t>::max();
  for (int64_t at_once = std::max<int64_t>(1, std::min(most, heads)); at_once >= 1; --at_once) {
    const int64_t tasks = groups * ((heads + at_once - 1) / at_once);
    const int64_t slowest = (tasks + threads - 1) / threads * at_once;
    if (slowest < fewest) best = at_once, fewest = slowest;
  }
  return best;
}

// Calls body(group of sequences, up to `at_once` heads, first saved states) for all sequences and heads.
template <typename Body>
void ForEachGroupAndHeads(const DeltaRuleShape& shape, int threads, int64_t at_once, const Body& body) {
  const std::vector<int64_t> first = FirstSavedStates(shape);
  const auto groups = GroupSequences(shape.cu_seqlens, shape.sequences, kTokensPerTask);
  const int64_t count = static_cast<int64_t>(groups.size());
  at_once = FewestRounds(count, shape.heads, threads, at_once);
  const int64_t ranges = (shape.heads + at_once - 1) / at_once;
  ParallelTasks(count * ranges, threads, [&](int64_t task) {
    const int64_t head = task % ranges * at_once;
    body(groups[task / ranges], HeadRange{head, std::min(head + at_once, shape.heads)}, first.data());
  });
}

}  // namespace

int64_t DeltaRuleSavedStates(const DeltaRuleShape& shape) { return FirstSavedStates(shape).back(); }

void DeltaRuleForward(const DeltaRuleShape& shape, const DeltaRuleInputs<float>& in, float* o, float* final_state,
                      const DeltaRuleSaved<float>& saved, int threads) {
  ForEachGroupAndHeads(shape, threads, StatesInCache(shape, sizeof(float)),
                       [&](const SequenceGroup& group, const HeadRange& heads, const int64_t* first) {
                         HWY_DYNAMIC_DISPATCH(ForwardF32)(shape, in, o, final_state, saved, group, heads, first);
                       });
}

void DeltaRuleForward(const DeltaRuleShape& shape, const DeltaRuleInputs<double>& in, double* o, double* final_state,
                      const DeltaRuleSaved<double>& saved, int threads) {
  ForEachGroupAndHeads(shape, threads, StatesInCache(shape, sizeof(double)),
                       [&](const SequenceGroup& group, const HeadRange& heads, const int64_t* first) {
                         HWY_DYNAMIC_DISPATCH(ForwardF64)(shape, in, o, final_state, saved, group, heads, first);
                       });
}

void DeltaRuleBackward(const DeltaRuleShape& shape, const DeltaRuleInputs<float>& in,
                       const DeltaRuleSaved<float>& saved, const float* d_o, const float* d_final_state,
                       const DeltaRuleGradients<float>& gradients, int threads) {
  ForEachGroupAndHeads(shape, threads, StatesInCache(shape, sizeof(float)),
                       [&](const SequenceGroup& group, const HeadRange& heads, const int64_t* first) {
                         HWY_DYNAMIC_DISPATCH(BackwardF32)
                         (shape, in, saved, d_o, d_final_state, gradients, group, heads, first);
                       });
}

void DeltaRuleBackward(const DeltaRuleShape& shape, const DeltaRuleInputs<double>& in,
                       const DeltaRuleSaved<double>& saved, const double* d_o, const double* d_final_state,
                       const DeltaRuleGradients<double>& gradients, int threads) {
  ForEachGroupAndHeads(shape, threads, StatesInCache(shape, sizeof(double)),
                       [&](const SequenceGroup& group, const HeadRange& heads, const int64_t* first) {
                         HWY_DYNAMIC_DISPATCH(BackwardF64)
                         (shape, in, saved, d_o, d_final_state, gradients, group, heads, first);
                       });
}

}  // namespace lrnn::kernels
#endif  // HWY_ONCE
