// Root-mean-square normalisation of rows with a learned scale per column.
//
//   y = x r * weight,   r = 1 / sqrt(mean(x^2) + eps)
//
// x, y: [R, D]   weight: [D]. With u = x r and g = dy * weight:  dx = r (g - u mean(g u)),  dweight = sum over rows of
// dy * u.
//
// Results are bit-identical for any thread count.
#pragma once

#include <cstdint>

namespace lrnn::kernels {

// x_stride: elements from one row of x to the next; y is contiguous.
void RmsNorm(const float* x, int64_t x_stride, int64_t R, int64_t D, const float* weight, float eps, float* y,
             int threads);
void RmsNorm(const double* x, int64_t x_stride, int64_t R, int64_t D, const double* weight, double eps, double* y,
             int threads);

// sum = x + residual, y = the norm of sum, in one pass; all contiguous.
void AddRmsNorm(const float* x, const float* residual, int64_t R, int64_t D, const float* weight, float eps, float* sum,
                float* y, int threads);
void AddRmsNorm(const double* x, const double* residual, int64_t R, int64_t D, const double* weight, double eps,
                double* sum, double* y, int threads);

// dy and dx are contiguous; dweight may be null (not wanted). `added`, unless it is null, is another gradient of x that
// dx includes: that of `sum` in AddRmsNorm. r is computed again, nothing is kept from the forward pass.
void RmsNormBackward(const float* x, int64_t x_stride, int64_t R, int64_t D, const float* weight, float eps,
                     const float* dy, const float* added, float* dx, float* dweight, int threads);
void RmsNormBackward(const double* x, int64_t x_stride, int64_t R, int64_t D, const double* weight, double eps,
                     const double* dy, const double* added, double* dx, double* dweight, int threads);

}  // namespace lrnn::kernels
