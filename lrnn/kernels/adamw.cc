#include "lrnn/kernels/adamw.h"

#include <algorithm>
#include <cmath>

#include "lrnn/kernels/parallel_tasks.h"

#ifndef LRNN_KERNELS_ADAMW_FACTORS
#define LRNN_KERNELS_ADAMW_FACTORS
namespace lrnn::kernels {
// The numbers of one step, computed once in double.
struct AdamWFactors {
  double decay;  // 1 - lr weight_decay
  double beta1;
  double gradient_share;  // (1 - beta1) gradient_scale
  double beta2;
  double square_share;        // (1 - beta2) gradient_scale^2
  double step_size;           // lr / bias1
  double inverse_root_bias2;  // 1 / sqrt(bias2)
  double eps;
};
}  // namespace lrnn::kernels
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lrnn/kernels/adamw.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace lrnn::kernels {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Updates elements i, i + N, ... as long as a whole vector fits; returns the first element left over.
template <class D, typename T = hn::TFromD<D>>
HWY_INLINE int64_t Update(D d, const AdamWFactors& factors, const T* HWY_RESTRICT g, T* HWY_RESTRICT p,
                          T* HWY_RESTRICT m, T* HWY_RESTRICT v, int64_t i, int64_t n) {
  const auto set = [d](double value) HWY_ATTR { return hn::Set(d, static_cast<T>(value)); };
  const auto decay = set(factors.decay);
  const auto beta1 = set(factors.beta1);
  const auto gradient_share = set(factors.gradient_share);
  const auto beta2 = set(factors.beta2);
  const auto square_share = set(factors.square_share);
  const auto step_size = set(factors.step_size);
  const auto inverse_root_bias2 = set(factors.inverse_root_bias2);
  const auto eps = set(factors.eps);
  const int64_t N = hn::Lanes(d);
  for (; i + N <= n; i += N) {
    const auto vg = hn::LoadU(d, g + i);
    const auto vm = hn::MulAdd(beta1, hn::LoadU(d, m + i), hn::Mul(gradient_share, vg));
    const auto vv = hn::MulAdd(beta2, hn::LoadU(d, v + i), hn::Mul(square_share, hn::Mul(vg, vg)));
    const auto step = hn::Div(vm, hn::MulAdd(hn::Sqrt(vv), inverse_root_bias2, eps));
    const auto vp = hn::NegMulAdd(step_size, step, hn::Mul(decay, hn::LoadU(d, p + i)));
    hn::StoreU(vm, d, m + i);
    hn::StoreU(vv, d, v + i);
    hn::StoreU(vp, d, p + i);
  }
  return i;
}

template <typename T>
HWY_INLINE void UpdateAll(const AdamWFactors& factors, const T* g, T* p, T* m, T* v, int64_t n) {
  const int64_t done = Update(hn::ScalableTag<T>(), factors, g, p, m, v, 0, n);
  Update(hn::CappedTag<T, 1>(), factors, g, p, m, v, done, n);
}

void AdamWFloat(const AdamWFactors& factors, const float* g, float* p, float* m, float* v, int64_t n) {
  UpdateAll(factors, g, p, m, v, n);
}
void AdamWDouble(const AdamWFactors& factors, const double* g, double* p, double* m, double* v, int64_t n) {
  UpdateAll(factors, g, p, m, v, n);
}

}  // namespace HWY_NAMESPACE
}  // namespace lrnn::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lrnn::kernels {

HWY_EXPORT(AdamWFloat);
HWY_EXPORT(AdamWDouble);

namespace {

template <typename T, typename Kernel>
void Run(const Kernel& kernel, const AdamWOptions& options, int64_t step, const T* g, T* p, T* m, T* v, int64_t n,
         int threads) {
  const double bias1 = 1 - std::pow(options.beta1, static_cast<double>(step));
  const double bias2 = 1 - std::pow(options.beta2, static_cast<double>(step));
  const double scale = options.gradient_scale;
  const AdamWFactors factors = {.decay = 1 - options.lr * options.weight_decay,
                                .beta1 = options.beta1,
                                .gradient_share = (1 - options.beta1) * scale,
                                .beta2 = options.beta2,
                                .square_share = (1 - options.beta2) * scale * scale,
                                .step_size = options.lr / bias1,
                                .inverse_root_bias2 = 1 / std::sqrt(bias2),
                                .eps = options.eps};
  constexpr int64_t kBlock = 65536;  // elements, about 20 microseconds of work
  ParallelTasks((n + kBlock - 1) / kBlock, threads, [&](int64_t b) {
    const int64_t i = b * kBlock;
    kernel(factors, g + i, p + i, m + i, v + i, std::min(kBlock, n - i));
  });
}

}  // namespace

void AdamW(const AdamWOptions& options, int64_t step, const float* g, float* p, float* m, float* v, int64_t n,
           int threads) {
  Run(HWY_DYNAMIC_DISPATCH(AdamWFloat), options, step, g, p, m, v, n, threads);
}

void AdamW(const AdamWOptions& options, int64_t step, const double* g, double* p, double* m, double* v, int64_t n,
           int threads) {
  Run(HWY_DYNAMIC_DISPATCH(AdamWDouble), options, step, g, p, m, v, n, threads);
}

}  // namespace lrnn::kernels
#endif  // HWY_ONCE
