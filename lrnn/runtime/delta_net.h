// DeltaNet, the recurrent form (lrnn/layers/delta_net.h is the training form and gives the equations).
//
//   q, k, v = silu(conv(W_q x)), silu(conv(W_k x)), silu(conv(W_v x)),   q, k <- q / |q|, k / |k|        per head
//   beta = sigmoid(W_b x),   2 sigmoid(W_b x) with allow_neg_eigval
//   S <- S + beta k (v - S^T k)^T        y = W_o RMSNorm(S^T q / sqrt(K))
//
// State: the last W-1 inputs of the convolutions, and S: [H, K, V].
#pragma once

#include <memory>
#include <string>

#include "lrnn/runtime/mixer.h"
#include "lrnn/runtime/weight_reader.h"

namespace lrnn {

// Reads the tensors `prefix.q_proj.weight`, ... of a delta_net checkpoint.
std::unique_ptr<RuntimeMixer> LoadRuntimeDeltaNet(WeightReader& weights, const std::string& prefix);

}  // namespace lrnn
