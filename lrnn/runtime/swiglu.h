// The gated MLP between mixers: y = W_down (silu(W_gate x) * W_up x). A mixer without state.
#pragma once

#include <memory>
#include <string>

#include "lrnn/runtime/mixer.h"
#include "lrnn/runtime/weight_reader.h"

namespace lrnn {

// Reads `prefix.gate_proj.weight` [I, D], `prefix.up_proj.weight` [I, D] and `prefix.down_proj.weight` [D, I].
// Checkpoints of flash-linear-attention before February 2025 have gate and up in one gate_proj [2 I, D].
std::unique_ptr<RuntimeMixer> LoadRuntimeSwiGlu(WeightReader& weights, const std::string& prefix);

}  // namespace lrnn
