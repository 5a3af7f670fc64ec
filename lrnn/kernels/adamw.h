// One AdamW step over one parameter in one pass over memory (Loshchilov & Hutter 2019, in PyTorch's order).
//
//   g <- gradient_scale g
//   p <- p (1 - lr weight_decay)
//   m <- beta1 m + (1 - beta1) g
//   v <- beta2 v + (1 - beta2) g^2
//   p <- p - lr (m / bias1) / (sqrt(v / bias2) + eps),   bias_i = 1 - beta_i^step
#pragma once

#include <cstdint>

namespace lrnn::kernels {

struct AdamWOptions {
  double lr = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0.01;
  double gradient_scale = 1;
};

// Updates p, m and v (n elements each); m and v start as zeros. step counts from 1 and includes this one.
void AdamW(const AdamWOptions& options, int64_t step, const float* g, float* p, float* m, float* v, int64_t n,
           int threads);
void AdamW(const AdamWOptions& options, int64_t step, const double* g, double* p, double* m, double* v, int64_t n,
           int threads);

}  // namespace lrnn::kernels
