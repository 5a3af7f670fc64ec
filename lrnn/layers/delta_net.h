// DeltaNet: a linear RNN whose transition is a generalised Householder matrix (Yang et al., 2024).
//
//   q, k, v = silu(conv(W_q x)), silu(conv(W_k x)), silu(conv(W_v x))      q, k <- q / |q|, k / |k|      per head
//   beta = sigmoid(W_b x),   2 sigmoid(W_b x) with allow_neg_eigval                                      one per head
//   S_t = (I - beta k k^T) S_{t-1} + beta k v^T        o_t = S_t^T q / sqrt(K)        y = W_o RMSNorm(o)
//
// x, y: [T, D]   q, k: [T, H, K]   v, o: [T, H, V]   beta: [T, H]   S: [H, K, V]
// Eigenvalues of the transition: K - 1 times 1, and 1 - beta in [0, 1] or, with allow_neg_eigval, [-1, 1].
// It is a DeltaRuleMixer (delta_rule_mixer.h) of one step without forget gate; parameter names and shapes are those of
// flash-linear-attention's `delta_net` checkpoints.
#pragma once

#include "lrnn/layers/registry.h"

namespace lrnn {

LayerInfo DeltaNetInfo();

}  // namespace lrnn
