// Matrix times vector for streaming inference, where a linear layer sees one token at a time.
//
//   y = W x (+ bias)        W: [out, in], row-major   x: [in]   y, bias: [out]
//
// Results are bit-identical for any thread count.
#pragma once

#include <cstdint>

namespace lrnn::kernels {

// bias may be null. y must not overlap x.
void MatVec(const float* W, const float* x, const float* bias, int64_t out, int64_t in, float* y, int threads);
void MatVec(const double* W, const double* x, const double* bias, int64_t out, int64_t in, double* y, int threads);

}  // namespace lrnn::kernels
