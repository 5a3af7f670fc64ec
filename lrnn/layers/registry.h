// The layers of lrnn, by name. A new layer is its own three files and one line in registry.cc; models, analysis,
// contract tests and the command line ask here.
#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "lrnn/base/rng.h"
#include "lrnn/io/fields.h"
#include "lrnn/layers/sequence_mixer.h"

namespace lrnn {

// A setting of a layer in config.json.
struct ConfigKey {
  std::string name;
  nlohmann::json value;  // default
  std::string help;
};

struct LayerInfo {
  std::string name;        // "delta_net": the model_type of config.json
  std::string title;       // "DeltaNet"
  std::string transition;  // A(x_t), in the layer's own letters; empty: not a linear RNN
  // Where the eigenvalues of A lie, and where they do with allow_neg_eigval: the same in a layer that has no choice.
  EigenvalueRange original = {};
  EigenvalueRange extended = {};
  std::vector<ConfigKey> keys;
  // `config` has hidden_size, allow_neg_eigval and all the keys above.
  std::function<std::shared_ptr<SequenceMixer>(const Fields& config, Rng& rng)> make;
  // In a block with an MLP, W_down of the MLP starts as U(-1, 1) / sqrt(its inputs) instead of N(0, initializer_range);
  // both over sqrt(2 layers).
  bool uniform_mlp_down = false;

  bool is_linear() const { return !transition.empty(); }
  bool has_extended_range() const { return !(original == extended); }
};

const std::vector<LayerInfo>& Layers();

// The layer of that name; an Error lists the known ones.
const LayerInfo& FindLayer(std::string_view name);

// `config` with the layer's defaults for what it does not say.
Fields WithDefaults(const LayerInfo& layer, const Fields& config);

}  // namespace lrnn
