// The gated unit of an MLP:  y = silu(g) * u,  gate_up = [g, u]: [..., 2 D] -> y: [..., D].
#pragma once

#include "lrnn/ops/torch.h"

namespace lrnn::ops {

// The fused kernel for float, double and bfloat16 on the CPU (differentiable once), the reference for everything else.
torch::Tensor SwiGlu(const torch::Tensor& gate_up);

// The equation in ATen: any device and dtype.
torch::Tensor SwiGluReference(const torch::Tensor& gate_up);

}  // namespace lrnn::ops
