#include "lrnn/kernels/swiglu.h"

#include <algorithm>
#include <type_traits>

#include "lrnn/kernels/parallel_tasks.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lrnn/kernels/swiglu.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "lrnn/kernels/bf16-inl.h"
#include "lrnn/kernels/columns-inl.h"
#include "lrnn/kernels/sigmoid-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lrnn::kernels {
namespace HWY_NAMESPACE {

// What is computed with, for numbers stored as T.
template <typename T>
using Computed = std::conditional_t<std::is_same_v<T, double>, double, float>;

template <typename T>
HWY_INLINE void Forward(const T* gate_up, int64_t R, int64_t D, T* y) {
  for (int64_t row = 0; row < R; ++row, gate_up += 2 * D, y += D) {
    ForColumns<Computed<T>>(D, [&](auto d, int64_t i) HWY_ATTR {
      StoreTo(hn::Mul(Silu(d, LoadFrom(d, gate_up + i)), LoadFrom(d, gate_up + D + i)), d, y + i);
    });
  }
}

template <typename T>
HWY_INLINE void Backward(const T* gate_up, int64_t R, int64_t D, const T* dy, T* dgate_up) {
  for (int64_t row = 0; row < R; ++row, gate_up += 2 * D, dy += D, dgate_up += 2 * D) {
    ForColumns<Computed<T>>(D, [&](auto d, int64_t i) HWY_ATTR {
      const auto g = LoadFrom(d, gate_up + i), gradient = LoadFrom(d, dy + i);
      auto s = hn::Zero(d), one_minus_s = hn::Zero(d);
      Sigmoid(d, g, s, one_minus_s);
      const auto silu = hn::Mul(g, s);
      const auto slope = hn::MulAdd(silu, one_minus_s, s);
      StoreTo(hn::Mul(hn::Mul(gradient, LoadFrom(d, gate_up + D + i)), slope), d, dgate_up + i);
      StoreTo(hn::Mul(gradient, silu), d, dgate_up + D + i);
    });
  }
}

void SwiGluFloat(const float* gate_up, int64_t R, int64_t D, float* y) { Forward(gate_up, R, D, y); }
void SwiGluDouble(const double* gate_up, int64_t R, int64_t D, double* y) { Forward(gate_up, R, D, y); }
void SwiGluBf16(const hwy::bfloat16_t* gate_up, int64_t R, int64_t D, hwy::bfloat16_t* y) { Forward(gate_up, R, D, y); }
void SwiGluBackwardFloat(const float* gate_up, int64_t R, int64_t D, const float* dy, float* dgate_up) {
  Backward(gate_up, R, D, dy, dgate_up);
}
void SwiGluBackwardDouble(const double* gate_up, int64_t R, int64_t D, const double* dy, double* dgate_up) {
  Backward(gate_up, R, D, dy, dgate_up);
}
void SwiGluBackwardBf16(const hwy::bfloat16_t* gate_up, int64_t R, int64_t D, const hwy::bfloat16_t* dy,
                        hwy::bfloat16_t* dgate_up) {
  Backward(gate_up, R, D, dy, dgate_up);
}

}  // namespace HWY_NAMESPACE
}  // namespace lrnn::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lrnn::kernels {

HWY_EXPORT(SwiGluFloat);
HWY_EXPORT(SwiGluDouble);
HWY_EXPORT(SwiGluBf16);
HWY_EXPORT(SwiGluBackwardFloat);
HWY_EXPORT(SwiGluBackwardDouble);
HWY_EXPORT(SwiGluBackwardBf16);

namespace {

// Blocks of rows of about 16K elements: some ten microseconds of work. body(first row, rows)
template <typename Body>
void ForBlocks(int64_t R, int64_t D, int threads, const Body& body) {
  const int64_t rows = std::max<int64_t>(1, 16384 / std::max<int64_t>(1, D));
  ParallelTasks((R + rows - 1) / rows, threads, [&](int64_t b) { body(b * rows, std::min(rows, R - b * rows)); });
}

template <typename T, typename Rows>
void RunForward(const T* gate_up, int64_t R, int64_t D, T* y, int threads, Rows of_rows) {
  ForBlocks(R, D, threads,
            [&](int64_t first, int64_t rows) { of_rows(gate_up + first * 2 * D, rows, D, y + first * D); });
}

template <typename T, typename Rows>
void RunBackward(const T* gate_up, int64_t R, int64_t D, const T* dy, T* dgate_up, int threads, Rows of_rows) {
  ForBlocks(R, D, threads, [&](int64_t first, int64_t rows) {
    of_rows(gate_up + first * 2 * D, rows, D, dy + first * D, dgate_up + first * 2 * D);
  });
}

}  // namespace

void SwiGlu(const float* gate_up, int64_t R, int64_t D, float* y, int threads) {
  RunForward(gate_up, R, D, y, threads, HWY_DYNAMIC_DISPATCH(SwiGluFloat));
}

void SwiGlu(const double* gate_up, int64_t R, int64_t D, double* y, int threads) {
  RunForward(gate_up, R, D, y, threads, HWY_DYNAMIC_DISPATCH(SwiGluDouble));
}

void SwiGlu(const hwy::bfloat16_t* gate_up, int64_t R, int64_t D, hwy::bfloat16_t* y, int threads) {
  RunForward(gate_up, R, D, y, threads, HWY_DYNAMIC_DISPATCH(SwiGluBf16));
}

void SwiGluBackward(const float* gate_up, int64_t R, int64_t D, const float* dy, float* dgate_up, int threads) {
  RunBackward(gate_up, R, D, dy, dgate_up, threads, HWY_DYNAMIC_DISPATCH(SwiGluBackwardFloat));
}

void SwiGluBackward(const double* gate_up, int64_t R, int64_t D, const double* dy, double* dgate_up, int threads) {
  RunBackward(gate_up, R, D, dy, dgate_up, threads, HWY_DYNAMIC_DISPATCH(SwiGluBackwardDouble));
}

void SwiGluBackward(const hwy::bfloat16_t* gate_up, int64_t R, int64_t D, const hwy::bfloat16_t* dy,
                    hwy::bfloat16_t* dgate_up, int threads) {
  RunBackward(gate_up, R, D, dy, dgate_up, threads, HWY_DYNAMIC_DISPATCH(SwiGluBackwardBf16));
}

}  // namespace lrnn::kernels
#endif  // HWY_ONCE
