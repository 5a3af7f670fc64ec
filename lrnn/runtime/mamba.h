// Mamba, the recurrent form (lrnn/layers/mamba.h is the training form).
//
//   u, z = W_in x        u <- silu(conv(u))        dt_low, B, C = W_x u        dt = softplus(W_dt dt_low + b_dt)
//   h <- a h + dt B u,   a = exp(dt A),   2 exp(dt A) - 1 with allow_neg_eigval,   A = -exp(A_log)
//   y = W_out ((C . h + D u) silu(z))
//
// State: the last W-1 inputs of the convolution [W-1, I], and h: [I, N].
#pragma once

#include <memory>
#include <string>

#include "lrnn/runtime/mixer.h"
#include "lrnn/runtime/weight_reader.h"

namespace lrnn {

// Reads the tensors `prefix.in_proj.weight`, ... of a mamba checkpoint in the Hugging Face dialect.
std::unique_ptr<RuntimeMixer> LoadRuntimeMamba(WeightReader& weights, const std::string& prefix);

}  // namespace lrnn
