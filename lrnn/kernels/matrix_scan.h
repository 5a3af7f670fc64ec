// A linear RNN whose transitions are dense matrices.
//
//   S_t = A_t S_{t-1} + B_t        A_t: [n, n]   S, B: [T, n, m]   S before each sequence: [N, n, m], or 0
//
// The A_t are given one for each token or, by `which`, as a table of R matrices. Nothing bounds their eigenvalues.
//
// Sequence i of the N packed ones is tokens cu_seqlens[i] .. cu_seqlens[i + 1] - 1; it may be empty. Results are the
// same bits for any number of threads.
#pragma once

#include <cstdint>

namespace lrnn::kernels {

struct MatrixScanShape {
  int64_t sequences;          // N
  const int32_t* cu_seqlens;  // [N + 1]
  int64_t rows;               // n
  int64_t columns;            // m
};

template <typename T>
struct MatrixScanInputs {
  const T* A;                        // [T, n, n], or [R, n, n] with `which`
  const int64_t* which = nullptr;    // [T]: A_t is A[which[t]]; null: A[t]
  int64_t matrices = 0;              // R with `which`, else 0
  const T* B = nullptr;              // null: 0
  const T* initial_state = nullptr;  // null: 0
};

template <typename T>
struct MatrixScanGradients {
  T* A;              // as the input
  T* B;              // [T, n, m], needed also where B is 0
  T* initial_state;  // may be null
};

// With one token a sequence S may be the initial state, which is then updated in place.
void MatrixScan(const MatrixScanShape& shape, const MatrixScanInputs<float>& in, float* S, int threads);
void MatrixScan(const MatrixScanShape& shape, const MatrixScanInputs<double>& in, double* S, int threads);

// Every element of `gradients` is written. S is what the forward pass gave:
//
//   d_B_t = d_S_t + A_{t+1}^T d_B_{t+1}        d_A_t = d_B_t S_{t-1}^T, summed over the tokens of each matrix
void MatrixScanBackward(const MatrixScanShape& shape, const MatrixScanInputs<float>& in, const float* S,
                        const float* d_S, const MatrixScanGradients<float>& gradients, int threads);
void MatrixScanBackward(const MatrixScanShape& shape, const MatrixScanInputs<double>& in, const double* S,
                        const double* d_S, const MatrixScanGradients<double>& gradients, int threads);

}  // namespace lrnn::kernels
