// Causal softmax attention, the streaming form (lrnn/layers/attention.h is the training form and gives the equations).
//
//   y = W_o sum over all tokens so far of softmax(q . k_j / sqrt(K)) v_j        q and k turned by their positions
//
// State: how many tokens there were, then of each its keys and its values: [D], [D]. It grows with every token.
#pragma once

#include <memory>
#include <string>

#include "lrnn/runtime/mixer.h"
#include "lrnn/runtime/weight_reader.h"

namespace lrnn {

// Reads the tensors `prefix.q_proj.weight`, ... of an attention layer.
std::unique_ptr<RuntimeMixer> LoadRuntimeAttention(WeightReader& weights, const std::string& prefix);

}  // namespace lrnn
