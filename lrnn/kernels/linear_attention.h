// Linear attention with decay: a linear RNN whose state is a matrix and whose transition is diagonal.
//
//   S_t = Diag(a_t) S_{t-1} + k_t v_t^T        o_t = scale S_t^T q_t
//
// q, k: [T, G, K]   v: [T, H, V]   a: [T, H, K], or [T, H] for one value a head   S: [N, H, K, V]   o: [T, H, V]
// Head h reads the q and k of group h / (H / G).
//
// The eigenvalues of the transition are the elements of a, of any sign: [0, 1] in the original layers, [-1, 1] with
// negative eigenvalues; 0 and the products that underflow are fine, since none of the formulas divides by them. GLA has
// one a for each key channel, Mamba-2 and mLSTM one for each head.
//
// How it is computed, and what signed log-space is: docs/math/linear_attention.md.
#pragma once

#include <cstdint>

namespace lrnn::kernels {

// How it is computed; all forms give the same up to rounding. The backward pass is always chunked.
enum class LinearAttentionForm {
  kAuto,         // kRecurrent or kChunked, whichever was measured to be faster for the widths and lengths
  kRecurrent,    // the state is carried along, past four tokens at a time
  kChunked,      // chunk by chunk, decays of a range of tokens multiplied one after the other
  kSignedLog,    // chunk by chunk, products of decays as 2^(sum of log2|a|) and the parity of their signs
  kPositiveLog,  // as kSignedLog without the signs, for a >= 0 only
};

struct LinearAttentionShape {
  int64_t sequences;          // N
  const int32_t* cu_seqlens;  // [N + 1]
  int64_t heads;              // H
  int64_t key_groups;         // G, a divisor of H
  int64_t key_width;          // K
  int64_t value_width;        // V
  bool decay_per_channel;     // a: [T, H, K] rather than [T, H]
  LinearAttentionForm form = LinearAttentionForm::kAuto;
};

template <typename T>
struct LinearAttentionInputs {
  const T* q;
  const T* k;
  const T* v;
  const T* decay;
  const T* initial_state;  // null: 0
  T scale;
};

template <typename T>
struct LinearAttentionGradients {
  T* q;              // [T, H, K]: for each head, to be summed over the heads of a group
  T* k;              // [T, H, K]
  T* v;              // [T, H, V]
  T* decay;          // as the input
  T* initial_state;  // may be null
};

// How many states the forward pass saves for the backward pass: one where a chunk follows another.
int64_t LinearAttentionChunkStates(const LinearAttentionShape& shape);

// `final_state` may be null, and may be the initial state (then it is updated in place); `chunk_states`
// [LinearAttentionChunkStates(shape), H, K, V] may be null when there will be no backward pass.
void LinearAttentionForward(const LinearAttentionShape& shape, const LinearAttentionInputs<float>& in, float* o,
                            float* final_state, float* chunk_states, int threads);
void LinearAttentionForward(const LinearAttentionShape& shape, const LinearAttentionInputs<double>& in, double* o,
                            double* final_state, double* chunk_states, int threads);

// Gradients of sum(o * d_o) + sum(final_state * d_final_state); `d_final_state` may be null. Every element of
// `gradients` is written.
void LinearAttentionBackward(const LinearAttentionShape& shape, const LinearAttentionInputs<float>& in,
                             const float* chunk_states, const float* d_o, const float* d_final_state,
                             const LinearAttentionGradients<float>& gradients, int threads);
void LinearAttentionBackward(const LinearAttentionShape& shape, const LinearAttentionInputs<double>& in,
                             const double* chunk_states, const double* d_o, const double* d_final_state,
                             const LinearAttentionGradients<double>& gradients, int threads);

}  // namespace lrnn::kernels
