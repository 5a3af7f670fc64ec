#include "lrnn/kernels/swiglu.h"

#include <algorithm>

#include "lrnn/base/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lrnn/kernels/swiglu.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "lrnn/kernels/sigmoid-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lrnn::kernels {
namespace HWY_NAMESPACE {

// `unit` on whole vectors of columns, then on what is left.
template <typename T, typename Unit>
HWY_INLINE void ForColumns(int64_t D, const Unit& unit) {
  const hn::ScalableTag<T> d;
  const hn::CappedTag<T, 1> d1;
  const int64_t N = hn::Lanes(d);
  int64_t i = 0;
  for (; i + N <= D; i += N) unit(d, i);
  for (; i < D; ++i) unit(d1, i);
}

template <typename T>
HWY_INLINE void Forward(const T* gate_up, int64_t R, int64_t D, T* y) {
  for (int64_t row = 0; row < R; ++row, gate_up += 2 * D, y += D) {
    ForColumns<T>(D, [&](auto d, int64_t i) HWY_ATTR {
      hn::StoreU(hn::Mul(Silu(d, hn::LoadU(d, gate_up + i)), hn::LoadU(d, gate_up + D + i)), d, y + i);
    });
  }
}

template <typename T>
HWY_INLINE void Backward(const T* gate_up, int64_t R, int64_t D, const T* dy, T* dgate_up) {
  for (int64_t row = 0; row < R; ++row, gate_up += 2 * D, dy += D, dgate_up += 2 * D) {
    ForColumns<T>(D, [&](auto d, int64_t i) HWY_ATTR {
      const auto g = hn::LoadU(d, gate_up + i), gradient = hn::LoadU(d, dy + i);
      auto s = hn::Zero(d), one_minus_s = hn::Zero(d);
      Sigmoid(d, g, s, one_minus_s);
      const auto silu = hn::Mul(g, s);
      const auto slope = hn::MulAdd(silu, one_minus_s, s);
      hn::StoreU(hn::Mul(hn::Mul(gradient, hn::LoadU(d, gate_up + D + i)), slope), d, dgate_up + i);
      hn::StoreU(hn::Mul(gradient, silu), d, dgate_up + D + i);
    });
  }
}

void SwiGluFloat(const float* gate_up, int64_t R, int64_t D, float* y) { Forward(gate_up, R, D, y); }
void SwiGluDouble(const double* gate_up, int64_t R, int64_t D, double* y) { Forward(gate_up, R, D, y); }
void SwiGluBackwardFloat(const float* gate_up, int64_t R, int64_t D, const float* dy, float* dgate_up) {
  Backward(gate_up, R, D, dy, dgate_up);
}
void SwiGluBackwardDouble(const double* gate_up, int64_t R, int64_t D, const double* dy, double* dgate_up) {
  Backward(gate_up, R, D, dy, dgate_up);
}

}  // namespace HWY_NAMESPACE
}  // namespace lrnn::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lrnn::kernels {

HWY_EXPORT(SwiGluFloat);
HWY_EXPORT(SwiGluDouble);
HWY_EXPORT(SwiGluBackwardFloat);
HWY_EXPORT(SwiGluBackwardDouble);

namespace {

// Blocks of rows of about 16K elements: some ten microseconds of work. body(first row, rows)
template <typename Body>
void ForBlocks(int64_t R, int64_t D, int threads, const Body& body) {
  const int64_t rows = std::max<int64_t>(1, 16384 / std::max<int64_t>(1, D));
  ParallelFor((R + rows - 1) / rows, threads, [&](int64_t b) { body(b * rows, std::min(rows, R - b * rows)); });
}

}  // namespace

void SwiGlu(const float* gate_up, int64_t R, int64_t D, float* y, int threads) {
  ForBlocks(R, D, threads, [&](int64_t first, int64_t rows) {
    HWY_DYNAMIC_DISPATCH(SwiGluFloat)(gate_up + first * 2 * D, rows, D, y + first * D);
  });
}

void SwiGlu(const double* gate_up, int64_t R, int64_t D, double* y, int threads) {
  ForBlocks(R, D, threads, [&](int64_t first, int64_t rows) {
    HWY_DYNAMIC_DISPATCH(SwiGluDouble)(gate_up + first * 2 * D, rows, D, y + first * D);
  });
}

void SwiGluBackward(const float* gate_up, int64_t R, int64_t D, const float* dy, float* dgate_up, int threads) {
  ForBlocks(R, D, threads, [&](int64_t first, int64_t rows) {
    HWY_DYNAMIC_DISPATCH(SwiGluBackwardFloat)
    (gate_up + first * 2 * D, rows, D, dy + first * D, dgate_up + first * 2 * D);
  });
}

void SwiGluBackward(const double* gate_up, int64_t R, int64_t D, const double* dy, double* dgate_up, int threads) {
  ForBlocks(R, D, threads, [&](int64_t first, int64_t rows) {
    HWY_DYNAMIC_DISPATCH(SwiGluBackwardDouble)
    (gate_up + first * 2 * D, rows, D, dy + first * D, dgate_up + first * 2 * D);
  });
}

}  // namespace lrnn::kernels
#endif  // HWY_ONCE
