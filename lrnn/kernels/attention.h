// Causal softmax attention over packed sequences.
//
//   o_i = sum over j <= i of p_ij v_j        p_i = softmax over j <= i of scale q_i . k_j
//
// q: [T, H, K]   k: [S, H, K]   v: [S, H, V]   o: [T, H, V]
// Of each sequence the last keys are those of its queries, and the ones before them a past that every query sees: the
// last query sees all keys, the one before it all but the last. Sequence n of the N packed ones has the queries
// cu_queries[n] .. cu_queries[n + 1] - 1 and the keys cu_keys[n] .. cu_keys[n + 1] - 1, at least as many.
//
// The probabilities are never in memory: a block of them is made, used and forgotten, in the backward pass once more.
// Derivation: docs/math/attention.md. Results are the same bits for any number of threads.
#pragma once

#include <cstdint>

namespace lrnn::kernels {

struct AttentionShape {
  int64_t sequences;          // N
  const int32_t* cu_queries;  // [N + 1]
  const int32_t* cu_keys;     // [N + 1]
  int64_t heads;              // H
  int64_t key_width;          // K
  int64_t value_width;        // V
};

// Rows may be slices of wider ones: that of token t starts at pointer + t * stride, counted in elements.
template <typename T>
struct AttentionInputs {
  const T* q;
  int64_t q_stride;
  const T* k;
  int64_t k_stride;
  const T* v;
  int64_t v_stride;
  T scale;  // positive
};

// Without gaps between rows.
template <typename T>
struct AttentionGradients {
  T* q;
  T* k;
  T* v;
};

// `log_sums` [T, H], the logarithms of the softmax's denominators, is for the backward pass and may be null.
void Attention(const AttentionShape& shape, const AttentionInputs<float>& in, float* o, float* log_sums, int threads);
void Attention(const AttentionShape& shape, const AttentionInputs<double>& in, double* o, double* log_sums,
               int threads);

// Gradients of sum(o * d_o); o and log_sums are what the forward pass gave. Every element is written.
void AttentionBackward(const AttentionShape& shape, const AttentionInputs<float>& in, const float* o,
                       const float* log_sums, const float* d_o, const AttentionGradients<float>& gradients,
                       int threads);
void AttentionBackward(const AttentionShape& shape, const AttentionInputs<double>& in, const double* o,
                       const double* log_sums, const double* d_o, const AttentionGradients<double>& gradients,
                       int threads);

}  // namespace lrnn::kernels
