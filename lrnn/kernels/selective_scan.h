// Selective scan (Mamba): a linear RNN with a diagonal, input-dependent transition. SIMD over channels, on raw
// pointers.
//
//   dt_t = softplus(delta_t + delta_bias)                  softplus and delta_bias optional
//   a_t  = exp(dt_t A)          or, allow_neg_eigval,      2 exp(dt_t A) - 1
//   h_t  = a_t h_{t-1} + dt_t B_t u_t                      the input term is the same for both ranges
//   y_t  = (C_t . h_t + D u_t) silu(z_t)                   D and z optional
//
// u, delta, z, y: [T, D]   A: [D, N]   B, C: [T, N]   D, delta_bias: [D]   h: [S, D, N]
// With A < 0 the eigenvalues a_t lie in (0, 1), or in (-1, 1) with allow_neg_eigval.
// Sequence s of the S packed sequences is rows cu_seqlens[s] .. cu_seqlens[s + 1] - 1; it may be empty.
//
// [T, D, N] is never in memory: the forward pass can leave the state before every kSelectiveScanBlock-th token, and the
// backward pass recomputes the states in between. Results are the same bits for any number of threads.
// Gu and Dao, "Mamba", 2023; Grazzi et al., "Unlocking State-Tracking in Linear RNNs Through Negative Eigenvalues",
// 2024. Blocking and gradients: docs/math/selective_scan.md.
#pragma once

#include <cstdint>

namespace lrnn::kernels {

// A state is saved before tokens 16, 32, ... of each sequence; the one before token 0 is the initial state.
inline constexpr int64_t kSelectiveScanBlock = 16;

// [T, ...] arrays may be slices of wider ones: row t starts at pointer + t * stride, counted in elements.
template <typename Real>
struct SelectiveScanInputs {
  int64_t channels = 0;                 // D
  int64_t states = 0;                   // N
  int64_t sequences = 0;                // S
  const int32_t* cu_seqlens = nullptr;  // [S + 1], from 0 to T

  const Real* u = nullptr;  // [T, D]
  int64_t u_stride = 0;
  const Real* delta = nullptr;  // [T, D]
  int64_t delta_stride = 0;
  const Real* A = nullptr;  // [D, N]
  const Real* B = nullptr;  // [T, N]
  int64_t B_stride = 0;
  const Real* C = nullptr;  // [T, N]
  int64_t C_stride = 0;
  const Real* D = nullptr;  // [D], or null for 0
  const Real* z = nullptr;  // [T, D], or null for no gate
  int64_t z_stride = 0;
  const Real* delta_bias = nullptr;     // [D], or null for 0
  const Real* initial_state = nullptr;  // [S, D, N], or null for 0

  bool delta_softplus = true;
  bool allow_neg_eigval = false;
};

template <typename Real>
struct SelectiveScanOutputs {
  Real* y = nullptr;  // [T, D]
  int64_t y_stride = 0;
  Real* final_state = nullptr;   // [S, D, N] or null; may be initial_state itself
  Real* block_states = nullptr;  // SelectiveScanBlockStatesSize elements for the backward pass, or null
};

template <typename Real>
struct SelectiveScanGradInputs {
  const Real* dy = nullptr;  // [T, D]
  int64_t dy_stride = 0;
  const Real* dfinal_state = nullptr;  // [S, D, N], or null for 0
  const Real* block_states = nullptr;  // as the forward pass left them
};

// Overwritten, not added to; rows follow each other without gaps. All are needed unless said otherwise.
template <typename Real>
struct SelectiveScanGradOutputs {
  Real* du = nullptr;              // [T, D]
  Real* ddelta = nullptr;          // [T, D]
  Real* dA = nullptr;              // [D, N]
  Real* dB = nullptr;              // [T, N]
  Real* dC = nullptr;              // [T, N]
  Real* dD = nullptr;              // [D], or null if not wanted
  Real* dz = nullptr;              // [T, D], or null if not wanted; needs z
  Real* ddelta_bias = nullptr;     // [D], or null if not wanted
  Real* dinitial_state = nullptr;  // [S, D, N], or null if not wanted
};

// Elements of block_states.
int64_t SelectiveScanBlockStatesSize(int64_t channels, int64_t states, int64_t sequences, const int32_t* cu_seqlens);

void SelectiveScanForward(const SelectiveScanInputs<float>& in, const SelectiveScanOutputs<float>& out, int threads);
void SelectiveScanForward(const SelectiveScanInputs<double>& in, const SelectiveScanOutputs<double>& out, int threads);

// `in` as given to the forward pass; initial_state must still hold what it held then.
void SelectiveScanBackward(const SelectiveScanInputs<float>& in, const SelectiveScanGradInputs<float>& grad,
                           const SelectiveScanGradOutputs<float>& out, int threads);
void SelectiveScanBackward(const SelectiveScanInputs<double>& in, const SelectiveScanGradInputs<double>& grad,
                           const SelectiveScanGradOutputs<double>& out, int threads);

}  // namespace lrnn::kernels
