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
// Rows may so be the heads of a slice of a wider projection: [T, H, K] inside [T, 3 * H * K] is {x, T, H, 3 * H * K,
// K}.
template <typename T>
struct Rows {
  const T* data;
  int64_t outer;
  int64_t inner;
  int64_t outer_stride;
  int64_t inner_stride;

  static Rows Contiguous(const T* data, int64_t rows, int64_t width) { return {data, rows, 1, width, width}; }
};

// y is contiguous [R, D] with R = x.outer * x.inner.
void L2Norm(const Rows<float>& x, int64_t D, float eps, float* y, int threads);
void L2Norm(const Rows<double>& x, int64_t D, double eps, double* y, int threads);

// dy and dx are contiguous.
void L2NormBackward(const Rows<float>& x, int64_t D, float eps, const float* dy, float* dx, int threads);
void L2NormBackward(const Rows<double>& x, int64_t D, double eps, const double* dy, double* dx, int threads);

}  // namespace lrnn::kernels
