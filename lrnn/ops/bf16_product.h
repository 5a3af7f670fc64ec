// Products of bf16 matrices by oneDNN, on CPUs that have instructions for them.
#pragma once

#include "lrnn/ops/torch.h"

namespace lrnn::ops {

// Whether this CPU multiplies bf16 numbers, twice as many at a time as fp32 ones. Where it does not, such a product is
// a hundred times slower than one of fp32 matrices.
bool HasBf16Products();

// c <- op(a) op(b), or c <- c + op(a) op(b) if it adds; op: transposed or not. a and b are bf16, c is bf16 or fp32, all
// are row-major and contiguous; op(a): [M, K], op(b): [K, N], c: [M, N]. Sums are fp32, and rounded once if c is bf16.
void Bf16Product(bool transpose_a, const torch::Tensor& a, bool transpose_b, const torch::Tensor& b,
                 const torch::Tensor& c, bool adds = false);

}  // namespace lrnn::ops
