// DeltaNet, Gated DeltaNet and DeltaProduct, the recurrent form (lrnn/layers/delta_rule_mixer.h is the training form
// and gives the equations).
//
//   S <- a S,   then for each step j of the token:   S <- S + beta_j k_j (v_j - S^T k_j)^T
//   y = W_o (RMSNorm(S^T q / sqrt(K)) silu(W_g x))
//
// State: the last W-1 inputs of the convolutions, and S: [H, K, V].
#pragma once

#include <memory>
#include <string>

#include "lrnn/runtime/mixer.h"
#include "lrnn/runtime/weight_reader.h"

namespace lrnn {

// Read the tensors `prefix.q_proj.weight`, ... of a checkpoint of that model_type.
std::unique_ptr<RuntimeMixer> LoadRuntimeDeltaNet(WeightReader& weights, const std::string& prefix);
std::unique_ptr<RuntimeMixer> LoadRuntimeGatedDeltaNet(WeightReader& weights, const std::string& prefix);
std::unique_ptr<RuntimeMixer> LoadRuntimeGatedDeltaProduct(WeightReader& weights, const std::string& prefix);

}  // namespace lrnn
