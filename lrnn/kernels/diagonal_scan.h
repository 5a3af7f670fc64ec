// A diagonal recurrence, the simplest linear RNN: every channel for itself.
//
//   h_t = a_t h_{t-1} + b_t        a, b, h: [T, D]   h before each sequence: [N, D], or 0
//
// The eigenvalues of the transition are the elements of a, of any sign.
//
// Sequence i of the N packed ones is rows cu_seqlens[i] .. cu_seqlens[i + 1] - 1; it may be empty. Results are the same
// bits for any number of threads.
#pragma once

#include <cstdint>

namespace lrnn::kernels {

struct DiagonalScanShape {
  int64_t sequences;          // N
  const int32_t* cu_seqlens;  // [N + 1]
  int64_t channels;           // D
};

// `initial` may be null: 0. h may be b, and with one token a sequence also `initial`.
void DiagonalScan(const DiagonalScanShape& shape, const float* a, const float* b, const float* initial, float* h,
                  int threads);
void DiagonalScan(const DiagonalScanShape& shape, const double* a, const double* b, const double* initial, double* h,
                  int threads);

// From d_h, the gradients of a and b, written, and that of `initial` unless `d_initial` is null. h is what the forward
// pass gave:
//
//   d_b_t = d_h_t + a_{t+1} d_b_{t+1}        d_a_t = d_b_t h_{t-1}
void DiagonalScanBackward(const DiagonalScanShape& shape, const float* a, const float* initial, const float* h,
                          const float* d_h, float* d_a, float* d_b, float* d_initial, int threads);
void DiagonalScanBackward(const DiagonalScanShape& shape, const double* a, const double* initial, const double* h,
                          const double* d_h, double* d_a, double* d_b, double* d_initial, int threads);

}  // namespace lrnn::kernels
