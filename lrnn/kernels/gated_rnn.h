// What the kernels of the gated non-linear RNNs share, sLSTM (slstm.h) and LSTM (lstm.h):
//
//   g_t = x_t + bias + y_{t-1} R        four gates of each unit, from the input and from the last output
//   y_t, s_t = cell(g_t, s_{t-1})       unit by unit
//
// x, g: [T, H, 4, K]   R: [H, K, 4, K]   bias: [H, 4, K]   y: [T, H, K]   state: [N, S, H, K], y first, then s
// A unit hears the K units of its own head: R is block-diagonal, and dense for one head.
//
// All sequences of a group advance together, longest first, so that those still running are the first rows of one small
// matrix product a step. Groups and heads do not know of each other. Results are the same bits for any number of
// threads. Derivation: docs/math/slstm.md.
#pragma once

#include <cstdint>

namespace lrnn::kernels {

struct GatedRnnShape {
  int64_t sequences;          // N
  const int32_t* cu_seqlens;  // [N + 1]
  int64_t heads;              // H
  int64_t width;              // K
};

// The [4, K] of token t and head h start at x + t * x_token_stride + h * x_head_stride.
template <typename T>
struct GatedRnnInputs {
  const T* x;
  int64_t x_token_stride;
  int64_t x_head_stride;
  const T* R;
  const T* bias;           // null: 0
  const T* initial_state;  // null: 0
};

template <typename T>
struct GatedRnnOutputs {
  T* y;
  T* final_state;  // null if not wanted; may be the initial state
  T* saved;        // SlstmSavedSize or LstmSavedSize elements for the backward pass, or null
};

// The gradient of R is not among them: it is one matrix product, the sum over t of y_{t-1}^T (gradient of x_t).
template <typename T>
struct GatedRnnGradients {
  T* x;
  int64_t x_token_stride;
  int64_t x_head_stride;
  T* bias;
  T* initial_state;  // null if not wanted
};

}  // namespace lrnn::kernels
