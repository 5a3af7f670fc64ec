#include "lrnn/kernels/matvec.h"

#include <algorithm>

#include "lrnn/kernels/parallel_tasks.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lrnn/kernels/matvec.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "hwy/contrib/dot/dot-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lrnn::kernels {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <class D>
HWY_INLINE hn::TFromD<D> Sum(D d, hn::Vec<D> v) {
  return hn::GetLane(hn::SumOfLanes(d, v));
}

// Four rows at once: x is loaded once for four, and eight accumulators hide the latency of the FMAs.
template <typename T>
HWY_INLINE void FourRows(const T* HWY_RESTRICT w, const T* HWY_RESTRICT x, int64_t in, T* HWY_RESTRICT y) {
  const hn::ScalableTag<T> d;
  const int64_t N = hn::Lanes(d);
  const T* w0 = w;
  const T* w1 = w + in;
  const T* w2 = w + 2 * in;
  const T* w3 = w + 3 * in;
  auto a0 = hn::Zero(d), a1 = hn::Zero(d), a2 = hn::Zero(d), a3 = hn::Zero(d);
  auto b0 = hn::Zero(d), b1 = hn::Zero(d), b2 = hn::Zero(d), b3 = hn::Zero(d);
  int64_t i = 0;
  for (; i + 2 * N <= in; i += 2 * N) {
    const auto xa = hn::LoadU(d, x + i);
    const auto xb = hn::LoadU(d, x + i + N);
    a0 = hn::MulAdd(hn::LoadU(d, w0 + i), xa, a0);
    a1 = hn::MulAdd(hn::LoadU(d, w1 + i), xa, a1);
    a2 = hn::MulAdd(hn::LoadU(d, w2 + i), xa, a2);
    a3 = hn::MulAdd(hn::LoadU(d, w3 + i), xa, a3);
    b0 = hn::MulAdd(hn::LoadU(d, w0 + i + N), xb, b0);
    b1 = hn::MulAdd(hn::LoadU(d, w1 + i + N), xb, b1);
    b2 = hn::MulAdd(hn::LoadU(d, w2 + i + N), xb, b2);
    b3 = hn::MulAdd(hn::LoadU(d, w3 + i + N), xb, b3);
  }
  if (i + N <= in) {
    const auto xa = hn::LoadU(d, x + i);
    a0 = hn::MulAdd(hn::LoadU(d, w0 + i), xa, a0);
    a1 = hn::MulAdd(hn::LoadU(d, w1 + i), xa, a1);
    a2 = hn::MulAdd(hn::LoadU(d, w2 + i), xa, a2);
    a3 = hn::MulAdd(hn::LoadU(d, w3 + i), xa, a3);
    i += N;
  }
  y[0] = Sum(d, hn::Add(a0, b0));
  y[1] = Sum(d, hn::Add(a1, b1));
  y[2] = Sum(d, hn::Add(a2, b2));
  y[3] = Sum(d, hn::Add(a3, b3));
  for (; i < in; ++i) {
    y[0] += w0[i] * x[i];
    y[1] += w1[i] * x[i];
    y[2] += w2[i] * x[i];
    y[3] += w3[i] * x[i];
  }
}

template <typename T>
HWY_INLINE void MatVecRows(const T* W, const T* x, const T* bias, int64_t out, int64_t in, T* y) {
  const hn::ScalableTag<T> d;
  int64_t r = 0;
  for (; r + 4 <= out; r += 4) FourRows(W + r * in, x, in, y + r);
  for (; r < out; ++r) y[r] = hn::Dot::Compute<0>(d, W + r * in, x, in);
  if (bias == nullptr) return;
  for (r = 0; r < out; ++r) y[r] += bias[r];
}

void MatVecFloat(const float* W, const float* x, const float* bias, int64_t out, int64_t in, float* y) {
  MatVecRows(W, x, bias, out, in, y);
}
void MatVecDouble(const double* W, const double* x, const double* bias, int64_t out, int64_t in, double* y) {
  MatVecRows(W, x, bias, out, in, y);
}

}  // namespace HWY_NAMESPACE
}  // namespace lrnn::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lrnn::kernels {

HWY_EXPORT(MatVecFloat);
HWY_EXPORT(MatVecDouble);

namespace {

template <typename T, typename Kernel>
void Run(const Kernel& kernel, const T* W, const T* x, const T* bias, int64_t out, int64_t in, T* y, int threads) {
  // Blocks of rows of about 128K weights, some ten microseconds: smaller ones are not worth waking a thread for.
  const int64_t block = std::max<int64_t>(4, (131072 / std::max<int64_t>(1, in)) & ~int64_t{3});
  ParallelTasks((out + block - 1) / block, threads, [&](int64_t b) {
    const int64_t r = b * block;
    kernel(W + r * in, x, bias != nullptr ? bias + r : nullptr, std::min(block, out - r), in, y + r);
  });
}

}  // namespace

void MatVec(const float* W, const float* x, const float* bias, int64_t out, int64_t in, float* y, int threads) {
  Run(HWY_DYNAMIC_DISPATCH(MatVecFloat), W, x, bias, out, in, y, threads);
}

void MatVec(const double* W, const double* x, const double* bias, int64_t out, int64_t in, double* y, int threads) {
  Run(HWY_DYNAMIC_DISPATCH(MatVecDouble), W, x, bias, out, in, y, threads);
}

}  // namespace lrnn::kernels
#endif  // HWY_ONCE
