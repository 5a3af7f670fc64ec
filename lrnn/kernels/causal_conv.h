// Depthwise causal convolution over packed sequences, with optional bias and fused SiLU.
//
//   p_t[d] = bias[d] + sum_{w = 0 .. W-1} weight[d, w] x_{t-W+1+w}[d]        y = p  or  y = silu(p) = p / (1 + exp(-p))
//
// Tap W-1 multiplies the current token. t counts from the start of a sequence; x_{-(W-1)} .. x_{-1} are its initial
// state.
//
// x, y: [T, D]   weight: [D, W], W >= 1   bias: [D]
// states: [S, W-1, D], the inputs before (after) the sequence, oldest first
// cu_seqlens: [S + 1], sequence s is rows cu_seqlens[s] .. cu_seqlens[s+1]-1 and may be empty
//
// Results are bit-identical for any thread count. Derivation of the gradients: docs/math/causal_conv.md.
#pragma once

#include <cstdint>

namespace lrnn::kernels {

template <typename T>
struct CausalConvInput {
  const int32_t* cu_seqlens;
  int64_t S;
  int64_t D;
  int64_t W;
  const T* x;
  int64_t x_stride;  // elements from one row of x to the next: D, or more for a slice of a wider matrix
  const T* weight;
  const T* bias = nullptr;           // null: none
  const T* initial_state = nullptr;  // null: zeros
  bool silu = true;
};

// Writes y, and final_state unless it is null. final_state may be initial_state itself: the state of a stream is
// updated in place.
void CausalConv(const CausalConvInput<float>& input, float* y, float* final_state, int threads);
void CausalConv(const CausalConvInput<double>& input, double* y, double* final_state, int threads);

template <typename T>
struct CausalConvGradients {
  T* dx;                  // [T, D], contiguous
  T* dweight = nullptr;   // [D, W], null: not wanted
  T* dbias = nullptr;     // [D], null: not wanted
  T* dinitial = nullptr;  // [S, W-1, D], null: not wanted
};

// Gradients given those of the outputs: dy [T, D] with its own row stride, dfinal [S, W-1, D] or null for zeros.
// p is computed again, nothing is kept from the forward pass. All gradients are written, not added to.
void CausalConvBackward(const CausalConvInput<float>& input, const float* dy, int64_t dy_stride, const float* dfinal,
                        const CausalConvGradients<float>& gradients, int threads);
void CausalConvBackward(const CausalConvInput<double>& input, const double* dy, int64_t dy_stride, const double* dfinal,
                        const CausalConvGradients<double>& gradients, int threads);

}  // namespace lrnn::kernels
