#include "lrnn/kernels/rms_norm.h"

#include <algorithm>
#include <vector>

#include "lrnn/kernels/parallel_tasks.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lrnn/kernels/rms_norm.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "lrnn/kernels/norm_rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lrnn::kernels {
namespace HWY_NAMESPACE {

template <typename T>
HWY_INLINE void Forward(const T* x, int64_t x_stride, int64_t R, int64_t D, const T* weight, T eps, T* y) {
  const T scale = T{1} / static_cast<T>(D);
  for (int64_t i = 0; i < R; ++i) NormRow<true, T>(x + i * x_stride, D, weight, scale, eps, y + i * D);
}

template <typename T>
HWY_INLINE void AddForward(const T* x, const T* residual, int64_t R, int64_t D, const T* weight, T eps, T* sum, T* y) {
  const hn::ScalableTag<T> d;
  const int64_t N = hn::Lanes(d);
  const T scale = T{1} / static_cast<T>(D);
  for (int64_t row = 0; row < R; ++row, x += D, residual += D, sum += D, y += D) {
    int64_t i = 0;
    for (; i + N <= D; i += N) hn::StoreU(hn::Add(hn::LoadU(d, x + i), hn::LoadU(d, residual + i)), d, sum + i);
    for (; i < D; ++i) sum[i] = x[i] + residual[i];
    NormRow<true, T>(sum, D, weight, scale, eps, y);
  }
}

template <typename T>
HWY_INLINE void Backward(const T* x, int64_t x_stride, int64_t R, int64_t D, const T* weight, T eps, const T* dy,
                         const T* added, T* dx, T* dweight) {
  const T scale = T{1} / static_cast<T>(D);
  for (int64_t i = 0; i < R; ++i) {
    NormRowBackward<true, T>(x + i * x_stride, D, weight, scale, eps, dy + i * D,
                             added != nullptr ? added + i * D : nullptr, dx + i * D, dweight);
  }
}

void RmsFloat(const float* x, int64_t x_stride, int64_t R, int64_t D, const float* weight, float eps, float* y) {
  Forward(x, x_stride, R, D, weight, eps, y);
}
void RmsDouble(const double* x, int64_t x_stride, int64_t R, int64_t D, const double* weight, double eps, double* y) {
  Forward(x, x_stride, R, D, weight, eps, y);
}
void AddRmsFloat(const float* x, const float* residual, int64_t R, int64_t D, const float* weight, float eps,
                 float* sum, float* y) {
  AddForward(x, residual, R, D, weight, eps, sum, y);
}
void RmsBackwardFloat(const float* x, int64_t x_stride, int64_t R, int64_t D, const float* weight, float eps,
                      const float* dy, const float* added, float* dx, float* dweight) {
  Backward(x, x_stride, R, D, weight, eps, dy, added, dx, dweight);
}
void AddRmsDouble(const double* x, const double* residual, int64_t R, int64_t D, const double* weight, double eps,
                  double* sum, double* y) {
  AddForward(x, residual, R, D, weight, eps, sum, y);
}
void RmsBackwardDouble(const double* x, int64_t x_stride, int64_t R, int64_t D, const double* weight, double eps,
                       const double* dy, const double* added, double* dx, double* dweight) {
  Backward(x, x_stride, R, D, weight, eps, dy, added, dx, dweight);
}

}  // namespace HWY_NAMESPACE
}  // namespace lrnn::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lrnn::kernels {

HWY_EXPORT(RmsFloat);
HWY_EXPORT(RmsDouble);
HWY_EXPORT(AddRmsFloat);
HWY_EXPORT(AddRmsDouble);
HWY_EXPORT(RmsBackwardFloat);
HWY_EXPORT(RmsBackwardDouble);

namespace {

// Blocks of rows: about 16K elements, some microseconds of work, and at least 64 rows, so that the partial sums of
// dweight (a row of them for each block) stay a small part of the traffic. The blocks depend on the shape alone.
struct Blocks {
  Blocks(int64_t R, int64_t D)
      : rows(std::max<int64_t>(64, 16384 / std::max<int64_t>(1, D))), count((R + rows - 1) / rows) {}
  int64_t rows;
  int64_t count;
};

template <typename T, typename Kernel>
void Forward(const Kernel& kernel, const T* x, int64_t x_stride, int64_t R, int64_t D, const T* weight, T eps, T* y,
             int threads) {
  const Blocks blocks(R, D);
  ParallelTasks(blocks.count, threads, [&](int64_t b) {
    const int64_t first = b * blocks.rows;
    kernel(x + first * x_stride, x_stride, std::min(blocks.rows, R - first), D, weight, eps, y + first * D);
  });
}

template <typename T, typename Kernel>
void AddForward(const Kernel& kernel, const T* x, const T* residual, int64_t R, int64_t D, const T* weight, T eps,
                T* sum, T* y, int threads) {
  const Blocks blocks(R, D);
  ParallelTasks(blocks.count, threads, [&](int64_t b) {
    const int64_t first = b * blocks.rows, at = first * D;
    kernel(x + at, residual + at, std::min(blocks.rows, R - first), D, weight, eps, sum + at, y + at);
  });
}

template <typename T, typename Kernel>
void Backward(const Kernel& kernel, const T* x, int64_t x_stride, int64_t R, int64_t D, const T* weight, T eps,
              const T* dy, const T* added, T* dx, T* dweight, int threads) {
  const Blocks blocks(R, D);
  std::vector<T> partial(dweight != nullptr ? blocks.count * D : 0);  // [blocks, D], zeros
  ParallelTasks(blocks.count, threads, [&](int64_t b) {
    const int64_t first = b * blocks.rows;
    kernel(x + first * x_stride, x_stride, std::min(blocks.rows, R - first), D, weight, eps, dy + first * D,
           added != nullptr ? added + first * D : nullptr, dx + first * D,
           dweight != nullptr ? partial.data() + b * D : nullptr);
  });
  if (dweight == nullptr) return;
  std::fill(dweight, dweight + D, T{0});
  for (int64_t b = 0; b < blocks.count; ++b) {
    for (int64_t i = 0; i < D; ++i) dweight[i] += partial[b * D + i];
  }
}

}  // namespace

void RmsNorm(const float* x, int64_t x_stride, int64_t R, int64_t D, const float* weight, float eps, float* y,
             int threads) {
  Forward(HWY_DYNAMIC_DISPATCH(RmsFloat), x, x_stride, R, D, weight, eps, y, threads);
}

void RmsNorm(const double* x, int64_t x_stride, int64_t R, int64_t D, const double* weight, double eps, double* y,
             int threads) {
  Forward(HWY_DYNAMIC_DISPATCH(RmsDouble), x, x_stride, R, D, weight, eps, y, threads);
}

void AddRmsNorm(const float* x, const float* residual, int64_t R, int64_t D, const float* weight, float eps, float* sum,
                float* y, int threads) {
  AddForward(HWY_DYNAMIC_DISPATCH(AddRmsFloat), x, residual, R, D, weight, eps, sum, y, threads);
}

void RmsNormBackward(const float* x, int64_t x_stride, int64_t R, int64_t D, const float* weight, float eps,
                     const float* dy, const float* added, float* dx, float* dweight, int threads) {
  Backward(HWY_DYNAMIC_DISPATCH(RmsBackwardFloat), x, x_stride, R, D, weight, eps, dy, added, dx, dweight, threads);
}

void AddRmsNorm(const double* x, const double* residual, int64_t R, int64_t D, const double* weight, double eps,
                double* sum, double* y, int threads) {
  AddForward(HWY_DYNAMIC_DISPATCH(AddRmsDouble), x, residual, R, D, weight, eps, sum, y, threads);
}

void RmsNormBackward(const double* x, int64_t x_stride, int64_t R, int64_t D, const double* weight, double eps,
                     const double* dy, const double* added, double* dx, double* dweight, int threads) {
  Backward(HWY_DYNAMIC_DISPATCH(RmsBackwardDouble), x, x_stride, R, D, weight, eps, dy, added, dx, dweight, threads);
}

}  // namespace lrnn::kernels
#endif  // HWY_ONCE
