// For tests: run something once for every SIMD target that was compiled in and that this CPU can execute.
#pragma once

#include <hwy/highway.h>

namespace lrnn::kernels {

// Calls body(name of the target), with the dispatch of all kernels set to that target.
template <typename Body>
void ForEachTarget(const Body& body) {
  for (int64_t targets = hwy::SupportedTargets(); targets != 0; targets &= targets - 1) {
    const int64_t target = targets & -targets;
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(target);
    body(hwy::TargetName(target));
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

}  // namespace lrnn::kernels
