// Initial weights from counter-based random numbers: the same for the same seed on any machine, thread count and torch
// version.
#pragma once

#include "lrnn/base/rng.h"
#include "lrnn/ops/torch.h"

namespace lrnn {

// All change the tensor in place, outside autograd, and return it.
torch::Tensor FillUniform(torch::Tensor tensor, double bound, Rng& rng);  // U(-bound, bound)
torch::Tensor FillNormal(torch::Tensor tensor, double deviation, Rng& rng);

// U(-b, b) with b = gain sqrt(6 / (fan_in + fan_out)), for weight: [fan_out, fan_in].
torch::Tensor FillXavierUniform(torch::Tensor weight, double gain, Rng& rng);

// The bias b of dt = softplus(b) whose dt is log-uniform over [0.001, 0.1], at least 1e-4: softplus^-1(dt).
torch::Tensor FillTimeStepBias(torch::Tensor bias, Rng& rng);

}  // namespace lrnn
