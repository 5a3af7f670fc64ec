// Cross-entropy of rows of logits with one right class each, and its gradient in the same pass:
//
//   loss_r = log(sum over v of exp(x_rv)) - x_{r, target_r}        dlogits = (softmax(x_r) - [v = target_r]) * scale
//
// logits, dlogits: [R, V]   targets: [R], in 0 .. V-1   losses: [R]. dlogits may be null (not wanted). A NaN among the
// logits makes the row's loss NaN.
#pragma once

#include <cstdint>

namespace lrnn::kernels {

void CrossEntropy(const float* logits, const int64_t* targets, int64_t R, int64_t V, float scale, float* losses,
                  float* dlogits, int threads);
void CrossEntropy(const double* logits, const int64_t* targets, int64_t R, int64_t V, double scale, double* losses,
                  double* dlogits, int threads);

}  // namespace lrnn::kernels
