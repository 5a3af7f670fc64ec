// sLSTM: a non-linear RNN with exponential input gates, a normaliser and a stabiliser (xLSTM; Beck et al., 2024). SIMD
// over units, on raw pointers.
//
//   i~, f~, z~, o~ = x_t + bias + y_{t-1} R
//   m' = max(i~, log sigmoid(f~) + m)        i = e^(i~ - m')        f = e^(log sigmoid(f~) + m - m')
//   c' = f c + i tanh(z~)        n' = f n + i        y = sigmoid(o~) c' / n'
//
// c and n are the cell and its normaliser times e^-m. Where n = 0 nothing was seen yet: m' = i~ and f = 0.
// Shapes are those of gated_rnn.h with S = 4: y, c, n, m. From the first token on n >= 1 and i, f are at most 1, so
// nothing overflows whatever the gates are.
#pragma once

#include "lrnn/kernels/gated_rnn.h"

namespace lrnn::kernels {

inline constexpr int64_t kSlstmStates = 4;  // S

// Elements of GatedRnnOutputs::saved.
int64_t SlstmSavedSize(const GatedRnnShape& shape);

void SlstmForward(const GatedRnnShape& shape, const GatedRnnInputs<float>& in, const GatedRnnOutputs<float>& out,
                  int threads);
void SlstmForward(const GatedRnnShape& shape, const GatedRnnInputs<double>& in, const GatedRnnOutputs<double>& out,
                  int threads);

// Gradients of sum(y * d_y) + sum(final_state * d_final_state); `d_final_state` may be null. `in` as in the forward
// pass, but x is not read. Every element of `out` is written.
void SlstmBackward(const GatedRnnShape& shape, const GatedRnnInputs<float>& in, const float* saved, const float* d_y,
                   const float* d_final_state, const GatedRnnGradients<float>& out, int threads);
void SlstmBackward(const GatedRnnShape& shape, const GatedRnnInputs<double>& in, const double* saved, const double* d_y,
                   const double* d_final_state, const GatedRnnGradients<double>& out, int threads);

}  // namespace lrnn::kernels
