// What follows the state of an mLSTM layer, in one pass:
//
//   h = c / (max(|n|, exp(-m)) + 1e-6)    o = [c, n]: what is read from the state and its normaliser, held over exp(m)
//   y = (norm(h) (1 + weight) + skip x) silu(z)    norm: mean 0 and variance 1 over the units of a head
//
// o: [T, H, K + 1]   m: [T, H]   x, z, y: [T, H K]   weight, skip: [H K]
// No gradient flows through m (max_plus_scan.h).
#pragma once

#include "lrnn/ops/torch.h"

namespace lrnn::ops {

// The fused kernel for float and double on the CPU (differentiable once), the reference for everything else.
torch::Tensor MlstmReadout(const torch::Tensor& o, const torch::Tensor& m, const torch::Tensor& x,
                           const torch::Tensor& z, const torch::Tensor& weight, const torch::Tensor& skip, double eps);

// The equations in ATen: any device and dtype.
torch::Tensor MlstmReadoutReference(const torch::Tensor& o, const torch::Tensor& m, const torch::Tensor& x,
                                    const torch::Tensor& z, const torch::Tensor& weight, const torch::Tensor& skip,
                                    double eps);

}  // namespace lrnn::ops
