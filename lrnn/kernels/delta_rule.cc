#include "lrnn/kernels/delta_rule.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lrnn/kernels/delta_rule.cc"
#include <hwy/aligned_allocator.h>
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include "lrnn/kernels/delta_rule-inl.h"
#include "lrnn/kernels/delta_rule_backward-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lrnn::kernels {
namespace HWY_NAMESPACE {

void ForwardF32(const DeltaRuleShape& shape, const DeltaRuleInputs<float>& in, float* o, float* final_state,
                const DeltaRuleSaved<float>& saved, int64_t sequence, int64_t head, int64_t first) {
  Forward(shape, in, o, final_state, saved, sequence, head, first);
}
void ForwardF64(const DeltaRuleShape& shape, const DeltaRuleInputs<double>& in, double* o, double* final_state,
                const DeltaRuleSaved<double>& saved, int64_t sequence, int64_t head, int64_t first) {
  Forward(shape, in, o, final_state, saved, sequence, head, first);
}
void BackwardF32(const DeltaRuleShape& shape, const DeltaRuleInputs<float>& in, const DeltaRuleSaved<float>& saved,
                 const float* d_o, const float* d_final_state, const DeltaRuleGradients<float>& out, int64_t sequence,
                 int64_t head, int64_t first) {
  Backward(shape, in, saved, d_o, d_final_state, out, sequence, head, first);
}
void BackwardF64(const DeltaRuleShape& shape, const DeltaRuleInputs<double>& in, const DeltaRuleSaved<double>& saved,
                 const double* d_o, const double* d_final_state, const DeltaRuleGradients<double>& out,
                 int64_t sequence, int64_t head, int64_t first) {
  Backward(shape, in, saved, d_o, d_final_state, out, sequence, head, first);
}

}  // namespace HWY_NAMESPACE
}  // namespace lrnn::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <algorithm>
#include <vector>

#include "lrnn/base/parallel.h"
#include "lrnn/kernels/sequence_groups.h"

namespace lrnn::kernels {

HWY_EXPORT(ForwardF32);
HWY_EXPORT(ForwardF64);
HWY_EXPORT(BackwardF32);
HWY_EXPORT(BackwardF64);

namespace {

// A task is worth its start from about this many tokens of one head on.
constexpr int64_t kTokensPerTask = 256;

int64_t BlockStatesOf(int64_t tokens, int64_t householders) {
  const int64_t block = DeltaRuleBlockTokens(householders);
  return std::max<int64_t>(0, (tokens + block - 1) / block - 1);  // the first block starts from the initial state
}

// first[i]: the index of the first saved state of sequence i.
std::vector<int64_t> FirstBlockStates(const DeltaRuleShape& shape) {
  std::vector<int64_t> first(shape.sequences + 1);
  for (int64_t i = 0; i < shape.sequences; ++i) {
    first[i + 1] = first[i] + BlockStatesOf(shape.cu_seqlens[i + 1] - shape.cu_seqlens[i], shape.householders);
  }
  return first;
}

// Calls body(sequence, head, first saved state) for all sequences and heads.
template <typename Body>
void ForEachSequenceAndHead(const DeltaRuleShape& shape, int threads, const Body& body) {
  const std::vector<int64_t> first = FirstBlockStates(shape);
  const auto groups = GroupSequences(shape.cu_seqlens, shape.sequences, kTokensPerTask);
  ParallelFor(static_cast<int64_t>(groups.size()) * shape.heads, threads, [&](int64_t task) {
    const SequenceGroup& group = groups[task / shape.heads];
    for (int64_t i = group.begin; i < group.end; ++i) body(i, task % shape.heads, first[i]);
  });
}

}  // namespace

int64_t DeltaRuleBlockStates(const DeltaRuleShape& shape) { return FirstBlockStates(shape).back(); }

void DeltaRuleForward(const DeltaRuleShape& shape, const DeltaRuleInputs<float>& in, float* o, float* final_state,
                      const DeltaRuleSaved<float>& saved, int threads) {
  ForEachSequenceAndHead(shape, threads, [&](int64_t sequence, int64_t head, int64_t first) {
    HWY_DYNAMIC_DISPATCH(ForwardF32)(shape, in, o, final_state, saved, sequence, head, first);
  });
}

void DeltaRuleForward(const DeltaRuleShape& shape, const DeltaRuleInputs<double>& in, double* o, double* final_state,
                      const DeltaRuleSaved<double>& saved, int threads) {
  ForEachSequenceAndHead(shape, threads, [&](int64_t sequence, int64_t head, int64_t first) {
    HWY_DYNAMIC_DISPATCH(ForwardF64)(shape, in, o, final_state, saved, sequence, head, first);
  });
}

void DeltaRuleBackward(const DeltaRuleShape& shape, const DeltaRuleInputs<float>& in,
                       const DeltaRuleSaved<float>& saved, const float* d_o, const float* d_final_state,
                       const DeltaRuleGradients<float>& gradients, int threads) {
  ForEachSequenceAndHead(shape, threads, [&](int64_t sequence, int64_t head, int64_t first) {
    HWY_DYNAMIC_DISPATCH(BackwardF32)(shape, in, saved, d_o, d_final_state, gradients, sequence, head, first);
  });
}

void DeltaRuleBackward(const DeltaRuleShape& shape, const DeltaRuleInputs<double>& in,
                       const DeltaRuleSaved<double>& saved, const double* d_o, const double* d_final_state,
                       const DeltaRuleGradients<double>& gradients, int threads) {
  ForEachSequenceAndHead(shape, threads, [&](int64_t sequence, int64_t head, int64_t first) {
    HWY_DYNAMIC_DISPATCH(BackwardF64)(shape, in, saved, d_o, d_final_state, gradients, sequence, head, first);
  });
}

}  // namespace lrnn::kernels
#endif  // HWY_ONCE
