// Rows scaled to unit length: the keys and queries of the delta rule.
//
//   y = x r,   r = 1 / sqrt(sum(x^2) + eps)        dx = r (dy - y sum(dy y))
//
// x, y: [R, D]. A row of zeros gives zeros, and finite gradients; where sum(x^2) + eps is 0, r counts as 0.
//
// Results are bit-identical for any thread count.
#pragma once

#include <cstdint>

namespace lrnn::kernels {

// Where row i of x lies: at data + (i / inner) * outer_stride + (i % inner) * inner_stride, i = 0 .. outer * inner - 1.
// So the heads of a slice of a wider projection are rows: [T, H, K] inside [T, 3 H K] is {x, T, H, 3 H K, K}.
template <typename T>
struct StridedRows {
  const T* data;
  int64_t outer;
  int64_t inner;
  int64_t outer_stride;
  int64_t inner_stride;

  int64_t count() const { return outer * inner; }

  static StridedRows Contiguous(const T* data, int64_t rows, int64_t width) { return {data, rows, 1, width, width}; }
};

// y is contiguous [R, D] with R = x.outer * x.inner.
void L2Norm(const StridedRows<float>& x, int64_t D, float eps, float* y, int threads);
void L2Norm(const StridedRows<double>& x, int64_t D, double eps, double* y, int threads);

// dy and dx are contiguous.
void L2NormBackward(const StridedRows<float>& x, int64_t D, float eps, const float* dy, float* dx, int threads);
void L2NormBackward(const StridedRows<double>& x, int64_t D, double eps, const double* dy, double* dx, int threads);

}  // namespace lrnn::kernels
