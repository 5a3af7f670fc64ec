// The full matrix layer, the recurrent form (lrnn/layers/full_matrix.h is the training form and gives the equations).
//
//   h <- A h + B x        y = h        A, B = (W x + b) / sqrt(D) as matrices
//
// State: h: [D].
#pragma once

#include <memory>
#include <string>

#include "lrnn/runtime/mixer.h"
#include "lrnn/runtime/weight_reader.h"

namespace lrnn {

// Reads the tensors `prefix.a_proj.weight`, ... of a full matrix layer.
std::unique_ptr<RuntimeMixer> LoadRuntimeFullMatrix(WeightReader& weights, const std::string& prefix);

}  // namespace lrnn
