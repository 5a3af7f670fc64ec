// The rotation layer, the recurrent form (lrnn/layers/rotation.h is the training form and gives the equations).
//
//   S <- a R(w) S + dt k v^T        y = W_o (RMSNorm(S^T q / sqrt(K)) silu(W_g x))
//
// State: S: [H, K, V].
#pragma once

#include <memory>
#include <string>

#include "lrnn/runtime/mixer.h"
#include "lrnn/runtime/weight_reader.h"

namespace lrnn {

// Reads the tensors `prefix.q_proj.weight`, ... of a rotation layer.
std::unique_ptr<RuntimeMixer> LoadRuntimeRotation(WeightReader& weights, const std::string& prefix);

}  // namespace lrnn
