// GLA, the recurrent form (lrnn/layers/gla.h is the training form and gives the equations).
//
//   S <- Diag(a) S + k v^T        y = W_o (RMSNorm(S^T q / sqrt(K)) silu(W_g x))
//   a = s = sigmoid(W_2 W_1 x + b)^(1/c),   2 s - 1 with allow_neg_eigval
//
// State: the last W-1 inputs of the convolutions, where there are any, and S: [H, K, V].
#pragma once

#include <memory>
#include <string>

#include "lrnn/runtime/mixer.h"
#include "lrnn/runtime/weight_reader.h"

namespace lrnn {

// Reads the tensors `prefix.q_proj.weight`, ... of a gla checkpoint.
std::unique_ptr<RuntimeMixer> LoadRuntimeGla(WeightReader& weights, const std::string& prefix);

}  // namespace lrnn
