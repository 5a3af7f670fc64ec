// mLSTM, the recurrent form (lrnn/layers/mlstm.h is the training form and gives the equations).
//
//   m' = max(log|a| + m, i)        C <- a e^(m - m') C + e^(i - m') k v^T / sqrt(K),   n likewise with 1 for v
//   h = C^T q / (max(|n . q|, e^-m') + 1e-6)        y = W_down ((GroupNorm(h) + skip c) silu(z))
//
// State: the last W-1 inputs of the convolution, m: [H], and C with n as its last column: [H, K, K+1].
#pragma once

#include <memory>
#include <string>

#include "lrnn/runtime/mixer.h"
#include "lrnn/runtime/weight_reader.h"

namespace lrnn {

// Reads the tensors `prefix.proj_up.weight`, ... of an mLSTM layer.
std::unique_ptr<RuntimeMixer> LoadRuntimeMlstm(WeightReader& weights, const std::string& prefix);

}  // namespace lrnn
