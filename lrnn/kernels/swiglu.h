// The gated unit of an MLP, on the two halves of each row:
//
//   y = silu(g) * u        dg = dy * u * silu'(g)        du = dy * silu(g)
//
// gate_up, dgate_up: [R, 2 D], g beside u   y, dy: [R, D]. All contiguous. bf16 numbers are computed with in fp32.
#pragma once

#include <hwy/base.h>

#include <cstdint>

namespace lrnn::kernels {

void SwiGlu(const float* gate_up, int64_t R, int64_t D, float* y, int threads);
void SwiGlu(const double* gate_up, int64_t R, int64_t D, double* y, int threads);
void SwiGlu(const hwy::bfloat16_t* gate_up, int64_t R, int64_t D, hwy::bfloat16_t* y, int threads);

void SwiGluBackward(const float* gate_up, int64_t R, int64_t D, const float* dy, float* dgate_up, int threads);
void SwiGluBackward(const double* gate_up, int64_t R, int64_t D, const double* dy, double* dgate_up, int threads);
void SwiGluBackward(const hwy::bfloat16_t* gate_up, int64_t R, int64_t D, const hwy::bfloat16_t* dy,
                    hwy::bfloat16_t* dgate_up, int threads);

}  // namespace lrnn::kernels
