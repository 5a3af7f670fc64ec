// The layers that the runtime can run. A new one is its own pair of files and one line in registry.cc.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "lrnn/io/fields.h"
#include "lrnn/runtime/mixer.h"
#include "lrnn/runtime/weight_reader.h"

namespace lrnn {

struct RuntimeLayer {
  std::string_view model_type;  // in config.json
  // Reads the mixer whose tensors are called `prefix.*`.
  std::unique_ptr<RuntimeMixer> (*load)(WeightReader& weights, const std::string& prefix);
};

std::span<const RuntimeLayer> RuntimeLayers();

// The layer of the config's model_type; an Error lists the known ones.
const RuntimeLayer& FindRuntimeLayer(const Fields& config);

}  // namespace lrnn
