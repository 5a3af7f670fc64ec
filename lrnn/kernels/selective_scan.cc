#include "lrnn/kernels/selective_scan.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lrnn/kernels/selective_scan.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "lrnn/kernels/parallel_tasks.h"
#include "lrnn/kernels/selective_scan-inl.h"
#include "lrnn/kernels/selective_scan_backward-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lrnn::kernels::HWY_NAMESPACE {

template <typename Real>
void Forward(const SelectiveScanInputs<Real>& in, const SelectiveScanOutputs<Real>& out,
             const SelectiveScanGroup& group, int64_t first_channel, int64_t end_channel) {
  if (in.allow_neg_eigval) return ForwardTask<true>(in, out, group, first_channel, end_channel);
  ForwardTask<false>(in, out, group, first_channel, end_channel);
}

template <typename Real>
void Backward(const SelectiveScanInputs<Real>& in, const SelectiveScanGradInputs<Real>& grad,
              const SelectiveScanGradOutputs<Real>& out, const SelectiveScanGroup& group, int64_t first_channel,
              int64_t end_channel) {
  if (in.allow_neg_eigval) return BackwardTask<true>(in, grad, out, group, first_channel, end_channel);
  BackwardTask<false>(in, grad, out, group, first_channel, end_channel);
}

void ForwardFloat(const SelectiveScanInputs<float>& in, const SelectiveScanOutputs<float>& out,
                  const SelectiveScanGroup& group, int64_t first_channel, int64_t end_channel) {
  Forward(in, out, group, first_channel, end_channel);
}

void ForwardDouble(const SelectiveScanInputs<double>& in, const SelectiveScanOutputs<double>& out,
                   const SelectiveScanGroup& group, int64_t first_channel, int64_t end_channel) {
  Forward(in, out, group, first_channel, end_channel);
}

void BackwardFloat(const SelectiveScanInputs<float>& in, const SelectiveScanGradInputs<float>& grad,
                   const SelectiveScanGradOutputs<float>& out, const SelectiveScanGroup& group, int64_t first_channel,
                   int64_t end_channel) {
  Backward(in, grad, out, group, first_channel, end_channel);
}

void BackwardDouble(const SelectiveScanInputs<double>& in, const SelectiveScanGradInputs<double>& grad,
                    const SelectiveScanGradOutputs<double>& out, const SelectiveScanGroup& group, int64_t first_channel,
                    int64_t end_channel) {
  Backward(in, grad, out, group, first_channel, end_channel);
}

}  // namespace lrnn::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lrnn::kernels {

HWY_EXPORT(ForwardFloat);
HWY_EXPORT(ForwardDouble);
HWY_EXPORT(BackwardFloat);
HWY_EXPORT(BackwardDouble);

namespace {

template <typename Real, typename Task>
void RunForward(const SelectiveScanInputs<Real>& in, const SelectiveScanOutputs<Real>& out, int threads, Task task) {
  const SelectiveScanPlan plan(in.channels, in.sequences, in.cu_seqlens);
  ParallelTasks(plan.groups.size() * plan.tiles, threads, [&](int64_t i) {
    const int64_t first_channel = i % plan.tiles * plan.tile;
    task(in, out, plan.groups[i / plan.tiles], first_channel, std::min(first_channel + plan.tile, in.channels));
  });
}

// A sum whose terms are computed by different tasks: each writes its own part, and Add adds them in order. A single
// part is written in place.
template <typename Real>
class Parts {
 public:
  Parts(Real* sum, int64_t size, int64_t count) : sum_(sum), size_(size), count_(count) {
    // One more than needed: the allocator refuses 0 elements.
    if (count != 1 || sum == nullptr) memory_ = hwy::AllocateAligned<Real>(size * count + 1);
  }

  Real* operator[](int64_t i) const { return memory_ == nullptr ? sum_ : memory_.get() + i * size_; }

  void Add(int threads) const {
    if (memory_ == nullptr || sum_ == nullptr) return;
    constexpr int64_t kChunk = 4096;
    ParallelTasks((size_ + kChunk - 1) / kChunk, threads, [&](int64_t chunk) {
      const int64_t begin = chunk * kChunk;
      const int64_t end = std::min(begin + kChunk, size_);
      std::fill(sum_ + begin, sum_ + end, Real(0));
      for (int64_t p = 0; p < count_; ++p) {
        const Real* part = (*this)[p];
        for (int64_t i = begin; i < end; ++i) sum_[i] += part[i];
      }
    });
  }

 private:
  Real* sum_;
  int64_t size_;
  int64_t count_;
  hwy::AlignedFreeUniquePtr<Real[]> memory_;
};

// Tasks of different tiles share dB and dC, tasks of different groups dA, dD and ddelta_bias.
template <typename Real, typename Task>
void RunBackward(const SelectiveScanInputs<Real>& in, const SelectiveScanGradInputs<Real>& grad,
                 const SelectiveScanGradOutputs<Real>& out, int threads, Task task) {
  const SelectiveScanPlan plan(in.channels, in.sequences, in.cu_seqlens);
  const int64_t groups = plan.groups.size();
  const int64_t tokens = in.cu_seqlens[in.sequences];
  const Parts<Real> dB(out.dB, tokens * in.states, plan.tiles);
  const Parts<Real> dC(out.dC, tokens * in.states, plan.tiles);
  const Parts<Real> dA(out.dA, in.channels * in.states, groups);
  const Parts<Real> dD(out.dD, in.channels, groups);
  const Parts<Real> ddelta_bias(out.ddelta_bias, in.channels, groups);
  ParallelTasks(groups * plan.tiles, threads, [&](int64_t i) {
    const int64_t group = i / plan.tiles;
    const int64_t tile = i % plan.tiles;
    SelectiveScanGradOutputs<Real> part = out;
    part.dB = dB[tile];
    part.dC = dC[tile];
    part.dA = dA[group];
    part.dD = dD[group];
    part.ddelta_bias = ddelta_bias[group];
    const int64_t first_channel = tile * plan.tile;
    task(in, grad, part, plan.groups[group], first_channel, std::min(first_channel + plan.tile, in.channels));
  });
  for (const Parts<Real>* parts : {&dB, &dC, &dA, &dD, &ddelta_bias}) parts->Add(threads);
}

}  // namespace

int64_t SelectiveScanBlockStatesSize(int64_t channels, int64_t states, int64_t sequences, const int32_t* cu_seqlens) {
  int64_t saved = 0;
  for (int64_t s = 0; s < sequences; ++s) saved += SelectiveScanSavedStates(cu_seqlens[s + 1] - cu_seqlens[s]);
  const int64_t lane_groups = (channels + kSelectiveScanLanes - 1) / kSelectiveScanLanes;
  return saved * lane_groups * states * kSelectiveScanLanes;
}

void SelectiveScanForward(const SelectiveScanInputs<float>& in, const SelectiveScanOutputs<float>& out, int threads) {
  RunForward(in, out, threads, HWY_DYNAMIC_DISPATCH(ForwardFloat));
}

void SelectiveScanForward(const SelectiveScanInputs<double>& in, const SelectiveScanOutputs<double>& out, int threads) {
  RunForward(in, out, threads, HWY_DYNAMIC_DISPATCH(ForwardDouble));
}

void SelectiveScanBackward(const SelectiveScanInputs<float>& in, const SelectiveScanGradInputs<float>& grad,
                           const SelectiveScanGradOutputs<float>& out, int threads) {
  RunBackward(in, grad, out, threads, HWY_DYNAMIC_DISPATCH(BackwardFloat));
}

void SelectiveScanBackward(const SelectiveScanInputs<double>& in, const SelectiveScanGradInputs<double>& grad,
                           const SelectiveScanGradOutputs<double>& out, int threads) {
  RunBackward(in, grad, out, threads, HWY_DYNAMIC_DISPATCH(BackwardDouble));
}

}  // namespace lrnn::kernels
#endif  // HWY_ONCE
