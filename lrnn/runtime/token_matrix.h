// The token matrix layer, the recurrent form (lrnn/layers/token_matrix.h is the training form and gives the equations).
//
//   H <- A[token] H        y = W_o flat(H) / max(1, |H|)
//
// State: H: [n, n], the identity before the first token.
#pragma once

#include <memory>
#include <string>

#include "lrnn/runtime/mixer.h"
#include "lrnn/runtime/weight_reader.h"

namespace lrnn {

// Reads the tensors `prefix.A` and `prefix.o_proj.weight` of a token matrix layer.
std::unique_ptr<RuntimeMixer> LoadRuntimeTokenMatrix(WeightReader& weights, const std::string& prefix);

}  // namespace lrnn
