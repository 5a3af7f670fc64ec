// Delta rule: a linear RNN whose transition is a product of generalised Householder matrices, with an optional gate.
//
//   for each token t:  S <- decay_t S
//                      for j = 0 .. n_h-1:  e_tj = v_tj - S^T k_tj,   S <- S + beta_tj k_tj e_tj^T
//                      o_t = scale S^T q_t
//
// so that S_t = A_t S_{t-1} + ..., A_t = decay_t prod_{j = n_h-1 .. 0} (I - beta_tj k_tj k_tj^T).
//
// q: [T, H, K]   k: [T, n_h, H, K]   v: [T, n_h, H, V]   beta: [T, n_h, H]   decay: [T, H]
// S: [N, H, K, V]   o: [T, H, V]
//
// With |k| = 1 the eigenvalues of one factor are 1 and 1 - beta: beta in [0, 2] gives [-1, 1]. DeltaNet has n_h = 1 and
// no decay, Gated DeltaNet a decay, DeltaProduct n_h > 1. Any finite beta, decay (0 and 1 included) and key (zero
// included) is fine.
//
// How it is computed, and why the backward pass transposes the state: docs/math/delta_rule.md.
#pragma once

#include <cstdint>

namespace lrnn::kernels {

struct DeltaRuleShape {
  int64_t sequences;          // N
  const int32_t* cu_seqlens;  // [N + 1]
  int64_t heads;              // H
  int64_t key_width;          // K
  int64_t value_width;        // V
  int64_t householders;       // n_h
};

template <typename T>
struct DeltaRuleInputs {
  const T* q;
  const T* k;
  const T* v;
  const T* beta;
  const T* decay;          // null: 1
  const T* initial_state;  // null: 0
  T scale;
};

// What the backward pass needs to know of the forward pass: the errors e, and S now and then.
template <typename T>
struct DeltaRuleSaved {
  T* errors;  // [T, n_h, H, V]
  T* states;  // [DeltaRuleSavedStates(shape), H, K, V]
};

template <typename T>
struct DeltaRuleGradients {
  T* q;
  T* k;
  T* v;
  T* beta;
  T* decay;          // null iff the input is
  T* initial_state;  // may be null
};

// How many states the forward pass saves for the backward pass: none in short sequences, in long ones one every 8 K
// Householder steps (256 at least), at most a 32nd of what q, k, v and o take.
int64_t DeltaRuleSavedStates(const DeltaRuleShape& shape);

// `final_state` may be null, and may be the initial state (then it is updated in place); `saved` may hold nulls when
// there will be no backward pass.
void DeltaRuleForward(const DeltaRuleShape& shape, const DeltaRuleInputs<float>& in, float* o, float* final_state,
                      const DeltaRuleSaved<float>& saved, int threads);
void DeltaRuleForward(const DeltaRuleShape& shape, const DeltaRuleInputs<double>& in, double* o, double* final_state,
                      const DeltaRuleSaved<double>& saved, int threads);

// Gradients of sum(o * d_o) + sum(final_state * d_final_state); `d_final_state` may be null. Every element of
// `gradients` is written.
void DeltaRuleBackward(const DeltaRuleShape& shape, const DeltaRuleInputs<float>& in,
                       const DeltaRuleSaved<float>& saved, const float* d_o, const float* d_final_state,
                       const DeltaRuleGradients<float>& gradients, int threads);
void DeltaRuleBackward(const DeltaRuleShape& shape, const DeltaRuleInputs<double>& in,
                       const DeltaRuleSaved<double>& saved, const double* d_o, const double* d_final_state,
                       const DeltaRuleGradients<double>& gradients, int threads);

}  // namespace lrnn::kernels
