// DeltaProduct and Gated DeltaProduct: n_h steps of the delta rule a token (Siems et al., 2025).
//
//   S <- a S,   then for each j = 0 .. n_h-1:   S <- (I - beta_j k_j k_j^T) S + beta_j k_j v_j^T
//   o_t = S_t^T q / sqrt(K)        y = W_o (RMSNorm(o) silu(W_g x))
//
// with k_j, v_j and beta_j of their own projections and convolutions, q, k_j, v_j and beta_j as in DeltaNet
// (delta_net.h) and a as in Gated DeltaNet (gated_deltanet.h); a = 1 without use_forget_gate. The transition a prod_j
// (I - beta_j k_j k_j^T) has K - n_h eigenvalues a and n_h others of modulus at most a: products of two reflections are
// rotations, those of n_h permute n_h + 1 points in any way. It is a DeltaRuleMixer (delta_rule_mixer.h); parameter
// names and shapes are those of flash-linear-attention's `gated_deltaproduct` checkpoints, rows of k, v and b in the
// order step, head, channel.
#pragma once

#include "lrnn/layers/registry.h"

namespace lrnn {

LayerInfo GatedDeltaProductInfo();

}  // namespace lrnn
