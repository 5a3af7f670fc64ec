// The simple diagonal layer, the recurrent form (lrnn/layers/diagonal.h is the training form and gives the equations).
//
//   h <- a h + (W_b x + b_b) x        y = h        a = sigmoid or tanh of 10 (W_a x + b_a)
//
// State: h: [D].
#pragma once

#include <memory>
#include <string>

#include "lrnn/runtime/mixer.h"
#include "lrnn/runtime/weight_reader.h"

namespace lrnn {

// Reads the tensors `prefix.a_proj.weight`, ... of a diagonal layer.
std::unique_ptr<RuntimeMixer> LoadRuntimeDiagonal(WeightReader& weights, const std::string& prefix);

}  // namespace lrnn
