// Depthwise causal convolution over packed sequences, with optional bias and fused SiLU.
//
//   p_t[d] = bias[d] + sum_{w = 0 .. W-1} weight[d, w] x_{t-W+1+w}[d]        y = p  or  y = silu(p)
//
// x, y: [T, D]   weight: [D, W]   bias: [D]
// states: [S, W-1, D], the W-1 inputs before (after) each sequence, oldest first
//
// Without an initial state the inputs before a sequence are zeros. The final state continues a stream: the convolution
// of a sequence equals that of its first part, then that of the rest from the first part's final state. All tensors
// share device and dtype. Differentiable once in x, weight, bias and initial_state.
#pragma once

#include "lrnn/ops/sequences.h"
#include "lrnn/ops/torch.h"

namespace lrnn::ops {

struct CausalConvOptions {
  bool silu = true;
  bool return_final_state = false;
};

struct CausalConvResult {
  torch::Tensor y;            // [T, D]
  torch::Tensor final_state;  // [S, W-1, D] if return_final_state, else undefined
};

// The fused kernel for float and double on the CPU, the ATen form for everything else. x may be a slice of a wider
// projection: no copy is made as long as its last dimension is contiguous.
CausalConvResult CausalConv(const torch::Tensor& x, const torch::Tensor& weight,
                            const c10::optional<torch::Tensor>& bias, const CausalConvOptions& options,
                            const Sequences& sequences,
                            const c10::optional<torch::Tensor>& initial_state = c10::nullopt);

// W gathers and products: any device and dtype, differentiable any number of times.
CausalConvResult CausalConvAten(const torch::Tensor& x, const torch::Tensor& weight,
                                const c10::optional<torch::Tensor>& bias, const CausalConvOptions& options,
                                const Sequences& sequences,
                                const c10::optional<torch::Tensor>& initial_state = c10::nullopt);

// The equation, token by token.
CausalConvResult CausalConvReference(const torch::Tensor& x, const torch::Tensor& weight,
                                     const c10::optional<torch::Tensor>& bias, const CausalConvOptions& options,
                                     const Sequences& sequences,
                                     const c10::optional<torch::Tensor>& initial_state = c10::nullopt);

}  // namespace lrnn::ops
