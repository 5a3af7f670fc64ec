// Rows times a block-diagonal matrix: heads or small blocks of channels that do not mix.
//
//   y_t,b = W_b x_t,b
//
// x: [T, blocks in]   W: [blocks, out, in]   y: [T, blocks out]
#pragma once

#include "lrnn/ops/torch.h"

namespace lrnn::ops {

// Small square blocks by a kernel, others by products of matrices, block by block (matrix_product.h); differentiable
// once. Types and devices without kernels take the reference.
torch::Tensor BlockDiagonal(const torch::Tensor& x, const torch::Tensor& W);

// The equation in ATen.
torch::Tensor BlockDiagonalReference(const torch::Tensor& x, const torch::Tensor& W);

}  // namespace lrnn::ops
