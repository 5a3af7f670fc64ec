// The config of each layer of a model, from the model's config.json.
//
// In most models all layers are of the model_type. In a `hybrid` they are listed:
//
//   {"model_type": "hybrid", "hidden_size": 128, "num_heads": 4, "num_hidden_layers": 4,
//    "layers": ["delta_net", {"layer": "gla", "num_heads": 2}]}
//
// The list repeats until there are num_hidden_layers of them (the length of the list where it is not given). What an
// entry does not say itself it takes from the model: here all keys but the num_heads of the second and fourth layer.
#pragma once

#include <string_view>
#include <vector>

#include "lrnn/io/fields.h"

namespace lrnn {

inline constexpr std::string_view kHybrid = "hybrid";

// One for each layer, in order: the model's settings and the layer's own, with the layer's name as model_type. Of a
// hybrid, Errors name the entry: `config.json: layers[1]: field "num_heads": ...`.
std::vector<Fields> LayerConfigs(const Fields& model);

// The same for the entries of a hybrid's list, before they repeat. Errors when it is no list of layers or empty.
std::vector<Fields> ListedLayers(const Fields& hybrid);

}  // namespace lrnn
