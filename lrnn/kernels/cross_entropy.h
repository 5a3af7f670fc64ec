// Cross-entropy of rows of logits with one right class each, and its gradient in the same pass:
//
//   p_rv     = (1 - smoothing) [v = target_r] + smoothing / V          the distribution that is asked for
//   loss_r   = log(sum over v of exp(x_rv)) - sum over v of p_rv x_rv
//   dlogits_rv = (softmax(x_r)_v - p_rv) * scale
//
// logits, dlogits: [R, V]   targets: [R], in 0 .. V-1   losses: [R]   smoothing in [0, 1). dlogits may be null (not
// wanted). A NaN among the logits makes the row's loss NaN.
#pragma once

#include <cstdint>

namespace lrnn::kernels {

void CrossEntropy(const float* logits, const int64_t* targets, int64_t R, int64_t V, float smoothing, float scale,
                  float* losses, float* dlogits, int threads);
void CrossEntropy(const double* logits, const int64_t* targets, int64_t R, int64_t V, double smoothing, double scale,
                  double* losses, double* dlogits, int threads);

}  // namespace lrnn::kernels
