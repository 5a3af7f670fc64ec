// Gated DeltaNet: DeltaNet with a forget gate (Yang, Kautz and Hatamizadeh, 2025).
//
//   a = exp(-exp(A_log) softplus(W_a x + dt_bias))                                                       one per head
//   S_t = a (I - beta k k^T) S_{t-1} + beta k v^T        o_t = S_t^T q / sqrt(K)        y = W_o (RMSNorm(o) silu(W_g
//   x))
//
// with q, k, v and beta as in DeltaNet (delta_net.h). Eigenvalues of the transition: K - 1 times a, and a (1 - beta),
// in [0, 1] or, with allow_neg_eigval, [-1, 1]. It is a DeltaRuleMixer (delta_rule_mixer.h) of one step; parameter
// names and shapes are those of flash-linear-attention's `gated_deltanet` checkpoints. Initially exp(A_log) ~ U(0, 16)
// and softplus(dt_bias) is log-uniform over [0.001, 0.1].
#pragma once

#include "lrnn/layers/registry.h"

namespace lrnn {

LayerInfo GatedDeltaNetInfo();

}  // namespace lrnn
