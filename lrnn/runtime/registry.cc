#include "lrnn/runtime/registry.h"

#include "lrnn/base/error.h"
#include "lrnn/runtime/attention.h"
#include "lrnn/runtime/delta_rule.h"
#include "lrnn/runtime/diagonal.h"
#include "lrnn/runtime/full_matrix.h"
#include "lrnn/runtime/gla.h"
#include "lrnn/runtime/lstm.h"
#include "lrnn/runtime/mamba.h"
#include "lrnn/runtime/mamba2.h"
#include "lrnn/runtime/mlstm.h"
#include "lrnn/runtime/rotation.h"
#include "lrnn/runtime/slstm.h"
#include "lrnn/runtime/token_matrix.h"

namespace lrnn {

std::span<const RuntimeLayer> RuntimeLayers() {
  static constexpr RuntimeLayer kLayers[] = {
      {"delta_net", LoadRuntimeDeltaNet},
      {"diagonal", LoadRuntimeDiagonal},
      {"full_matrix", LoadRuntimeFullMatrix},
      {"gated_deltanet", LoadRuntimeGatedDeltaNet},
      {"gated_deltaproduct", LoadRuntimeGatedDeltaProduct},
      {"gla", LoadRuntimeGla},
      {"mamba", LoadRuntimeMamba},
      {"mamba2", LoadRuntimeMamba2},
      {"mlstm", LoadRuntimeMlstm},
      {"rotation", LoadRuntimeRotation},
      {"token_matrix", LoadRuntimeTokenMatrix},
      {"attention", LoadRuntimeAttention},
      {"lstm", LoadRuntimeLstm},
      {"slstm", LoadRuntimeSlstm},
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
