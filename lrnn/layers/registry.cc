#include "lrnn/layers/registry.h"

#include "lrnn/base/error.h"
#include "lrnn/layers/attention.h"
#include "lrnn/layers/delta_net.h"
#include "lrnn/layers/diagonal.h"
#include "lrnn/layers/full_matrix.h"
#include "lrnn/layers/gated_deltanet.h"
#include "lrnn/layers/gated_deltaproduct.h"
#include "lrnn/layers/gla.h"
#include "lrnn/layers/lstm.h"
#include "lrnn/layers/mamba.h"
#include "lrnn/layers/mamba2.h"
#include "lrnn/layers/mlstm.h"
#include "lrnn/layers/rotation.h"
#include "lrnn/layers/slstm.h"
#include "lrnn/layers/token_matrix.h"

namespace lrnn {

const std::vector<LayerInfo>& Layers() {
  static const std::vector<LayerInfo> layers = {
      DeltaNetInfo(),    DiagonalInfo(),  FullMatrixInfo(), GatedDeltaNetInfo(), GatedDeltaProductInfo(),
      GlaInfo(),         MambaInfo(),     Mamba2Info(),     MlstmInfo(),         RotationInfo(),
      TokenMatrixInfo(), AttentionInfo(), LstmInfo(),       SlstmInfo(),
  };
  return layers;
}

const LayerInfo& FindLayer(std::string_view name) {
  std::string known;
  for (const LayerInfo& layer : Layers()) {
    if (layer.name == name) return layer;
    known += (known.empty() ? "" : ", ") + layer.name;
  }
  Fail("unknown layer \"{}\" (known: {})", name, known);
}

Fields WithDefaults(const LayerInfo& layer, const Fields& config) {
  nlohmann::json all = config.json();
  if (!config.Has("allow_neg_eigval")) all["allow_neg_eigval"] = false;
  for (const ConfigKey& key : layer.keys) {
    if (!config.Has(key.name)) all[key.name] = key.value;
  }
  return Fields(std::move(all), config.source());
}

}  // namespace lrnn
