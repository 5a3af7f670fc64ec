#include "lrnn/kernels/cross_entropy.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "lrnn/kernels/parallel_tasks.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lrnn/kernels/cross_entropy.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "lrnn/kernels/sigmoid-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lrnn::kernels {
namespace HWY_NAMESPACE {

template <typename T>
HWY_INLINE T RowLoss(const T* HWY_RESTRICT x, int64_t target, int64_t V, T smoothing, T scale, T* HWY_RESTRICT dx) {
  const hn::ScalableTag<T> d;
  const hn::CappedTag<T, 1> d1;
  const int64_t N = hn::Lanes(d);

  // The largest logit, and NaN if there is one, which Max may swallow.
  auto largest = hn::Set(d, -std::numeric_limits<T>::infinity()), nan = hn::Zero(d);
  int64_t i = 0;
  for (; i + N <= V; i += N) {
    const auto v = hn::LoadU(d, x + i);
    largest = hn::Max(largest, v);
    nan = hn::Add(nan, hn::IfThenElseZero(hn::IsNaN(v), v));
  }
  T top = hn::GetLane(hn::MaxOfLanes(d, largest)), nans = hn::GetLane(hn::SumOfLanes(d, nan));
  for (; i < V; ++i) {
    top = std::max(top, x[i]);
    if (std::isnan(x[i])) nans = x[i];
  }

  // exp(x - top), into dx where it is wanted, and the sum of top - x.
  auto sums = hn::Zero(d), gaps = hn::Zero(d);
  for (i = 0; i + N <= V; i += N) {
    const auto gap = hn::Sub(hn::Set(d, top), hn::LoadU(d, x + i));
    const auto e = ExpNegAbs(d, gap);
    sums = hn::Add(sums, e);
    gaps = hn::Add(gaps, gap);
    if (dx != nullptr) hn::StoreU(e, d, dx + i);
  }
  T sum = hn::GetLane(hn::SumOfLanes(d, sums)), gap_sum = hn::GetLane(hn::SumOfLanes(d, gaps));
  for (; i < V; ++i) {
    const T e = hn::GetLane(ExpNegAbs(d1, hn::Set(d1, top - x[i])));
    sum += e;
    gap_sum += top - x[i];
    if (dx != nullptr) dx[i] = e;
  }
  if (dx != nullptr) {
    const T factor = scale / sum, everywhere = scale * smoothing / static_cast<T>(V);
    for (i = 0; i + N <= V; i += N) {
      hn::StoreU(hn::MulSub(hn::LoadU(d, dx + i), hn::Set(d, factor), hn::Set(d, everywhere)), d, dx + i);
    }
    for (; i < V; ++i) dx[i] = dx[i] * factor - everywhere;
    dx[target] -= scale * (1 - smoothing);
  }
  const T loss = std::log(sum) + (1 - smoothing) * (top - x[target]) + nans;
  return smoothing == 0 ? loss : loss + smoothing / static_cast<T>(V) * gap_sum;  // gap_sum may be infinite
}

template <typename T>
HWY_INLINE void Rows(const T* logits, const int64_t* targets, int64_t R, int64_t V, T smoothing, T scale, T* losses,
                     T* dlogits) {
  for (int64_t row = 0; row < R; ++row) {
    losses[row] =
        RowLoss(logits + row * V, targets[row], V, smoothing, scale, dlogits != nullptr ? dlogits + row * V : nullptr);
  }
}

void CrossEntropyFloat(const float* logits, const int64_t* targets, int64_t R, int64_t V, float smoothing, float scale,
                       float* losses, float* dlogits) {
  Rows(logits, targets, R, V, smoothing, scale, losses, dlogits);
}
void CrossEntropyDouble(const double* logits, const int64_t* targets, int64_t R, int64_t V, double smoothing,
                        double scale, double* losses, double* dlogits) {
  Rows(logits, targets, R, V, smoothing, scale, losses, dlogits);
}

}  // namespace HWY_NAMESPACE
}  // namespace lrnn::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lrnn::kernels {

HWY_EXPORT(CrossEntropyFloat);
HWY_EXPORT(CrossEntropyDouble);

namespace {

template <typename T, typename Kernel>
void ForBlocks(const Kernel& kernel, const T* logits, const int64_t* targets, int64_t R, int64_t V, T smoothing,
               T scale, T* losses, T* dlogits, int threads) {
  const int64_t rows = std::max<int64_t>(1, 16384 / V);  // some ten microseconds of work
  ParallelTasks((R + rows - 1) / rows, threads, [&](int64_t b) {
    const int64_t first = b * rows;
    kernel(logits + first * V, targets + first, std::min(rows, R - first), V, smoothing, scale, losses + first,
           dlogits != nullptr ? dlogits + first * V : nullptr);
  });
}

}  // namespace

void CrossEntropy(const float* logits, const int64_t* targets, int64_t R, int64_t V, float smoothing, float scale,
                  float* losses, float* dlogits, int threads) {
  ForBlocks(HWY_DYNAMIC_DISPATCH(CrossEntropyFloat), logits, targets, R, V, smoothing, scale, losses, dlogits, threads);
}

void CrossEntropy(const double* logits, const int64_t* targets, int64_t R, int64_t V, double smoothing, double scale,
                  double* losses, double* dlogits, int threads) {
  ForBlocks(HWY_DYNAMIC_DISPATCH(CrossEntropyDouble), logits, targets, R, V, smoothing, scale, losses, dlogits,
            threads);
}

}  // namespace lrnn::kernels
#endif  // HWY_ONCE
