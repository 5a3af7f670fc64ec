#include "lrnn/kernels/diagonal_scan.h"

#include <algorithm>

#include "lrnn/kernels/parallel_tasks.h"
#include "lrnn/kernels/sequence_groups.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lrnn/kernels/diagonal_scan.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace lrnn::kernels {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Calls body(tag, column) for the columns 0 .. n-1, a whole vector at a time and the rest one by one.
template <typename T, typename Body>
HWY_INLINE void ForColumns(int64_t n, const Body& body) {
  const hn::ScalableTag<T> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t c = 0;
  for (; c + lanes <= n; c += lanes) body(d, c);
  for (; c < n; ++c) body(hn::CappedTag<T, 1>(), c);
}

// One sequence of `rows` tokens in n neighbouring columns of arrays of width D.
template <typename T>
HWY_INLINE void DiagonalScanRows(int64_t rows, int64_t n, int64_t D, const T* a, const T* b, const T* initial, T* h) {
  const T* before = initial;
  for (int64_t t = 0; t < rows; ++t, a += D, b += D, h += D) {
    ForColumns<T>(n, [&](auto d, int64_t c) HWY_ATTR {
      auto sum = hn::LoadU(d, b + c);
      if (before != nullptr) sum = hn::MulAdd(hn::LoadU(d, a + c), hn::LoadU(d, before + c), sum);
      hn::StoreU(sum, d, h + c);
    });
    before = h;
  }
}

// Pointers are those of the first token.
template <typename T>
HWY_INLINE void DiagonalScanBackwardRows(int64_t rows, int64_t n, int64_t D, const T* a, const T* initial, const T* h,
                                         const T* d_h, T* d_a, T* d_b, T* d_initial) {
  for (int64_t t = rows - 1; t >= 0; --t) {
    const T* before = t > 0 ? h + (t - 1) * D : initial;
    const T* a_next = a + (t + 1) * D;  // read only where there is a next token
    const T* d_next = d_b + (t + 1) * D;
    ForColumns<T>(n, [&](auto d, int64_t c) HWY_ATTR {
      auto sum = hn::LoadU(d, d_h + t * D + c);
      if (t + 1 < rows) sum = hn::MulAdd(hn::LoadU(d, a_next + c), hn::LoadU(d, d_next + c), sum);
      hn::StoreU(sum, d, d_b + t * D + c);
      const auto d_decay = before != nullptr ? hn::Mul(sum, hn::LoadU(d, before + c)) : hn::Zero(d);
      hn::StoreU(d_decay, d, d_a + t * D + c);
    });
  }
  if (d_initial == nullptr) return;
  ForColumns<T>(n, [&](auto d, int64_t c) HWY_ATTR {
    const auto sum = rows > 0 ? hn::Mul(hn::LoadU(d, a + c), hn::LoadU(d, d_b + c)) : hn::Zero(d);
    hn::StoreU(sum, d, d_initial + c);
  });
}

void DiagonalScanFloat(int64_t rows, int64_t n, int64_t D, const float* a, const float* b, const float* initial,
                       float* h) {
  DiagonalScanRows(rows, n, D, a, b, initial, h);
}
void DiagonalScanDouble(int64_t rows, int64_t n, int64_t D, const double* a, const double* b, const double* initial,
                        double* h) {
  DiagonalScanRows(rows, n, D, a, b, initial, h);
}
void DiagonalScanBackwardFloat(int64_t rows, int64_t n, int64_t D, const float* a, const float* initial, const float* h,
                               const float* d_h, float* d_a, float* d_b, float* d_initial) {
  DiagonalScanBackwardRows(rows, n, D, a, initial, h, d_h, d_a, d_b, d_initial);
}
void DiagonalScanBackwardDouble(int64_t rows, int64_t n, int64_t D, const double* a, const double* initial,
                                const double* h, const double* d_h, double* d_a, double* d_b, double* d_initial) {
  DiagonalScanBackwardRows(rows, n, D, a, initial, h, d_h, d_a, d_b, d_initial);
}

}  // namespace HWY_NAMESPACE
}  // namespace lrnn::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lrnn::kernels {

HWY_EXPORT(DiagonalScanFloat);
HWY_EXPORT(DiagonalScanDouble);
HWY_EXPORT(DiagonalScanBackwardFloat);
HWY_EXPORT(DiagonalScanBackwardDouble);

namespace {

// Calls body(sequence, its first row, its rows, first column, columns) for all sequences and tiles of columns; a task
// is some ten thousand elements.
template <typename Body>
void ForTiles(const DiagonalScanShape& shape, int threads, const Body& body) {
  constexpr int64_t kColumns = 256, kElements = 16384;
  const int64_t D = shape.channels, tiles = (D + kColumns - 1) / kColumns;
  const auto groups =
      GroupSequences(shape.cu_seqlens, shape.sequences, kElements / std::max<int64_t>(1, std::min(D, kColumns)));
  ParallelTasks(static_cast<int64_t>(groups.size()) * tiles, threads, [&](int64_t task) {
    const SequenceGroup& group = groups[task / tiles];
    const int64_t c = task % tiles * kColumns;
    for (int64_t i = group.begin; i < group.end; ++i) {
      const int64_t row = shape.cu_seqlens[i];
      body(i, row, shape.cu_seqlens[i + 1] - row, c, std::min(kColumns, D - c));
    }
  });
}

template <typename T, typename Kernel>
void RunForward(const Kernel& kernel, const DiagonalScanShape& shape, const T* a, const T* b, const T* initial, T* h,
                int threads) {
  const int64_t D = shape.channels;
  ForTiles(shape, threads, [&](int64_t i, int64_t row, int64_t rows, int64_t c, int64_t n) {
    const int64_t at = row * D + c;
    kernel(rows, n, D, a + at, b + at, initial ? initial + i * D + c : nullptr, h + at);
  });
}

template <typename T, typename Kernel>
void RunBackward(const Kernel& kernel, const DiagonalScanShape& shape, const T* a, const T* initial, const T* h,
                 const T* d_h, T* d_a, T* d_b, T* d_initial, int threads) {
  const int64_t D = shape.channels;
  ForTiles(shape, threads, [&](int64_t i, int64_t row, int64_t rows, int64_t c, int64_t n) {
    const int64_t at = row * D + c, state = i * D + c;
    kernel(rows, n, D, a + at, initial ? initial + state : nullptr, h + at, d_h + at, d_a + at, d_b + at,
           d_initial ? d_initial + state : nullptr);
  });
}

}  // namespace

void DiagonalScan(const DiagonalScanShape& shape, const float* a, const float* b, const float* initial, float* h,
                  int threads) {
  RunForward(HWY_DYNAMIC_DISPATCH(DiagonalScanFloat), shape, a, b, initial, h, threads);
}

void DiagonalScan(const DiagonalScanShape& shape, const double* a, const double* b, const double* initial, double* h,
                  int threads) {
  RunForward(HWY_DYNAMIC_DISPATCH(DiagonalScanDouble), shape, a, b, initial, h, threads);
}

void DiagonalScanBackward(const DiagonalScanShape& shape, const float* a, const float* initial, const float* h,
                          const float* d_h, float* d_a, float* d_b, float* d_initial, int threads) {
  RunBackward(HWY_DYNAMIC_DISPATCH(DiagonalScanBackwardFloat), shape, a, initial, h, d_h, d_a, d_b, d_initial, threads);
}

void DiagonalScanBackward(const DiagonalScanShape& shape, const double* a, const double* initial, const double* h,
                          const double* d_h, double* d_a, double* d_b, double* d_initial, int threads) {
  RunBackward(HWY_DYNAMIC_DISPATCH(DiagonalScanBackwardDouble), shape, a, initial, h, d_h, d_a, d_b, d_initial,
              threads);
}

}  // namespace lrnn::kernels
#endif  // HWY_ONCE
