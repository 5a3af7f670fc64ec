// c <- op(a) op(b), or c + op(a) op(b): the product of matrices whose rows may lie apart, a head's part of wider rows
// say.
//
// By oneDNN for float on the CPU, faster than the BLAS behind torch for the tall, narrow matrices of these models
// (docs/performance.md); else by torch. Not seen by autograd: for operations that have gradients of their own.
#pragma once

#include "lrnn/ops/torch.h"

namespace lrnn::ops {

// op(a): [M, K]   op(b): [K, N]   c: [M, N], one type, each with neighbours in a row side by side in memory.
void MatrixProduct(bool transpose_a, const torch::Tensor& a, bool transpose_b, const torch::Tensor& b,
                   const torch::Tensor& c, bool adds = false);

}  // namespace lrnn::ops
