// The gated MLP behind an sLSTM layer:  y = W_down (gelu(gate) * up)   with   gate, up = W_up x.
#pragma once

#include <memory>
#include <string>

#include "lrnn/runtime/mixer.h"
#include "lrnn/runtime/weight_reader.h"

namespace lrnn {

// Reads `prefix.proj_up.weight` and `prefix.proj_down.weight`. It remembers nothing.
std::unique_ptr<RuntimeMixer> LoadRuntimeGatedGelu(WeightReader& weights, const std::string& prefix);

}  // namespace lrnn
