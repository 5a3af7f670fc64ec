// Rows times a block-diagonal matrix of small square blocks: mLSTM makes q, k and v with blocks of 4.
//
//   y_t,b = W_b x_t,b        dx_t,b = W_b^T dy_t,b        dW_b = sum_t dy_t,b x_t,b^T
//
// x, y: [T, blocks, size]   W: [blocks, size (out), size (in)]
//
// Blocks of 16 and more are products of matrices that a library does better (ops/block_diagonal.h). Results are
// bit-identical for any thread count.
#pragma once

#include <cstdint>

namespace lrnn::kernels {

struct BlockDiagonalShape {
  int64_t rows;  // T
  int64_t blocks;
  int64_t size;

  int64_t width() const { return blocks * size; }
};

void BlockDiagonal(const BlockDiagonalShape& shape, const float* x, const float* W, float* y, int threads);
void BlockDiagonal(const BlockDiagonalShape& shape, const double* x, const double* W, double* y, int threads);

// dx may be null. Every other element is written.
void BlockDiagonalBackward(const BlockDiagonalShape& shape, const float* x, const float* W, const float* dy, float* dx,
                           float* dW, int threads);
void BlockDiagonalBackward(const BlockDiagonalShape& shape, const double* x, const double* W, const double* dy,
                           double* dx, double* dW, int threads);

}  // namespace lrnn::kernels
