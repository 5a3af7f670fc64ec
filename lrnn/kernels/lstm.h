// LSTM: the non-linear RNN with sigmoid gates (Hochreiter and Schmidhuber, 1997; forget gate of Gers et al., 2000).
// SIMD over units, on raw pointers.
//
//   i~, f~, g~, o~ = x_t + bias + y_{t-1} R
//   c' = sigmoid(f~) c + sigmoid(i~) tanh(g~)        y = sigmoid(o~) tanh(c')
//
// Shapes are those of gated_rnn.h with S = 2: y, c.
#pragma once

#include "lrnn/kernels/gated_rnn.h"

namespace lrnn::kernels {

inline constexpr int64_t kLstmStates = 2;  // S

// Elements of GatedRnnOutputs::saved.
int64_t LstmSavedSize(const GatedRnnShape& shape);

void LstmForward(const GatedRnnShape& shape, const GatedRnnInputs<float>& in, const GatedRnnOutputs<float>& out,
                 int threads);
void LstmForward(const GatedRnnShape& shape, const GatedRnnInputs<double>& in, const GatedRnnOutputs<double>& out,
                 int threads);

// Gradients of sum(y * d_y) + sum(final_state * d_final_state); `d_final_state` may be null. `in` as in the forward
// pass, but x is not read. Every element of `out` is written.
void LstmBackward(const GatedRnnShape& shape, const GatedRnnInputs<float>& in, const float* saved, const float* d_y,
                  const float* d_final_state, const GatedRnnGradients<float>& out, int threads);
void LstmBackward(const GatedRnnShape& shape, const GatedRnnInputs<double>& in, const double* saved, const double* d_y,
                  const double* d_final_state, const GatedRnnGradients<double>& out, int threads);

}  // namespace lrnn::kernels
