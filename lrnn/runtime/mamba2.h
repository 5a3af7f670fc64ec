// Mamba-2, the recurrent form (lrnn/layers/mamba2.h is the training form and gives the equations).
//
//   S <- a S + B (dt u)^T,   a = exp(dt A),   2 exp(dt A) - 1 with allow_neg_eigval
//   y = W_out RMSNorm((S^T C + D u) silu(z))
//
// State: the last W-1 inputs of the convolution, and S: [H, N, P].
#pragma once

#include <memory>
#include <string>

#include "lrnn/runtime/mixer.h"
#include "lrnn/runtime/weight_reader.h"

namespace lrnn {

// Reads the tensors `prefix.in_proj.weight`, ... of a mamba2 checkpoint.
std::unique_ptr<RuntimeMixer> LoadRuntimeMamba2(WeightReader& weights, const std::string& prefix);

}  // namespace lrnn
