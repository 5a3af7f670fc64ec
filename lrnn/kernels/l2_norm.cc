#include "lrnn/kernels/l2_norm.h"

#include <algorithm>

#include "lrnn/kernels/parallel_tasks.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lrnn/kernels/l2_norm.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "lrnn/kernels/norm_rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lrnn::kernels {
namespace HWY_NAMESPACE {

// Walks over the rows from `begin`, without a division for each.
template <typename T>
struct Walk {
  HWY_INLINE Walk(const StridedRows<T>& x, int64_t begin) : x(x), outer(begin / x.inner), inner(begin % x.inner) {}
  HWY_INLINE const T* Next() {
    const T* row = x.data + outer * x.outer_stride + inner * x.inner_stride;
    if (++inner == x.inner) {
      inner = 0;
      ++outer;
    }
    return row;
  }

  const StridedRows<T>& x;
  int64_t outer;
  int64_t inner;
};

// Rows begin .. end-1.
template <typename T>
HWY_INLINE void Forward(const StridedRows<T>& x, int64_t begin, int64_t end, int64_t D, T eps, T* y) {
  Walk<T> walk(x, begin);
  for (int64_t i = begin; i < end; ++i) NormRow<false, T>(walk.Next(), D, nullptr, T{1}, eps, y + i * D);
}

template <typename T>
HWY_INLINE void Backward(const StridedRows<T>& x, int64_t begin, int64_t end, int64_t D, T eps, const T* dy, T* dx) {
  Walk<T> walk(x, begin);
  for (int64_t i = begin; i < end; ++i) {
    NormRowBackward<false, T>(walk.Next(), D, nullptr, T{1}, eps, dy + i * D, nullptr, dx + i * D, nullptr);
  }
}

void L2Float(const StridedRows<float>& x, int64_t begin, int64_t end, int64_t D, float eps, float* y) {
  Forward(x, begin, end, D, eps, y);
}
void L2Double(const StridedRows<double>& x, int64_t begin, int64_t end, int64_t D, double eps, double* y) {
  Forward(x, begin, end, D, eps, y);
}
void L2BackwardFloat(const StridedRows<float>& x, int64_t begin, int64_t end, int64_t D, float eps, const float* dy,
                     float* dx) {
  Backward(x, begin, end, D, eps, dy, dx);
}
void L2BackwardDouble(const StridedRows<double>& x, int64_t begin, int64_t end, int64_t D, double eps, const double* dy,
                      double* dx) {
  Backward(x, begin, end, D, eps, dy, dx);
}

}  // namespace HWY_NAMESPACE
}  // namespace lrnn::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lrnn::kernels {

HWY_EXPORT(L2Float);
HWY_EXPORT(L2Double);
HWY_EXPORT(L2BackwardFloat);
HWY_EXPORT(L2BackwardDouble);

namespace {
// Calls body(begin, end) for blocks of rows of about 16K elements, some microseconds of work.
template <typename Body>
void ForRowBlocks(int64_t rows, int64_t D, int threads, const Body& body) {
  const int64_t block = std::max<int64_t>(1, 16384 / std::max<int64_t>(1, D));
  ParallelTasks((rows + block - 1) / block, threads,
                [&](int64_t b) { body(b * block, std::min(rows, (b + 1) * block)); });
}
}  // namespace

void L2Norm(const StridedRows<float>& x, int64_t D, float eps, float* y, int threads) {
  ForRowBlocks(x.count(), D, threads, [&](int64_t begin, int64_t end) {
    HWY_DYNAMIC_DISPATCH(L2Float)(x, begin, end, D, eps, y);
  });
}

void L2Norm(const StridedRows<double>& x, int64_t D, double eps, double* y, int threads) {
  ForRowBlocks(x.count(), D, threads, [&](int64_t begin, int64_t end) {
    HWY_DYNAMIC_DISPATCH(L2Double)(x, begin, end, D, eps, y);
  });
}

void L2NormBackward(const StridedRows<float>& x, int64_t D, float eps, const float* dy, float* dx, int threads) {
  ForRowBlocks(x.count(), D, threads, [&](int64_t begin, int64_t end) {
    HWY_DYNAMIC_DISPATCH(L2BackwardFloat)(x, begin, end, D, eps, dy, dx);
  });
}

void L2NormBackward(const StridedRows<double>& x, int64_t D, double eps, const double* dy, double* dx, int threads) {
  ForRowBlocks(x.count(), D, threads, [&](int64_t begin, int64_t end) {
    HWY_DYNAMIC_DISPATCH(L2BackwardDouble)(x, begin, end, D, eps, dy, dx);
  });
}

}  // namespace lrnn::kernels
#endif  // HWY_ONCE
