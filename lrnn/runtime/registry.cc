#include "lrnn/runtime/registry.h"

#include "lrnn/base/error.h"
#include "lrnn/runtime/delta_net.h"
#include "lrnn/runtime/gla.h"
#include "lrnn/runtime/mamba.h"
#include "lrnn/runtime/mamba2.h"
#include "lrnn/runtime/mlstm.h"

namespace lrnn {

std::span<const RuntimeLayer> RuntimeLayers() {
  static constexpr RuntimeLayer kLayers[] = {
      {"delta_net", LoadRuntimeDeltaNet}, {"gla", LoadRuntimeGla},     {"mamba", LoadRuntimeMamba},
      {"mamba2", LoadRuntimeMamba2},      {"mlstm", LoadRuntimeMlstm},
  };
  return kLayers;
}

const RuntimeLayer& FindRuntimeLayer(const Fields& config) {
  const std::string model_type = config.String("model_type");
  std::string known;
  for (const RuntimeLayer& layer : RuntimeLayers()) {
    if (layer.model_type == model_type) return layer;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", layer.model_type);
  }
  config.Refuse("model_type", "one of " + known);
}

}  // namespace lrnn
