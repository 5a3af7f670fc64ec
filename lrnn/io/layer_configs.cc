#include "lrnn/io/layer_configs.h"

#include "lrnn/base/error.h"

namespace lrnn {

std::vector<Fields> ListedLayers(const Fields& hybrid) {
  if (!hybrid.Has("layers")) Fail("{}: field \"layers\" is missing", hybrid.source());
  const nlohmann::json& list = hybrid.json().at("layers");
  if (!list.is_array() || list.empty()) hybrid.Refuse("layers", "a list of layers");
  nlohmann::json shared = hybrid.json();
  shared.erase("layers");
  std::vector<Fields> layers;
  for (const nlohmann::json& entry : list) {
    nlohmann::json own = shared;
    if (entry.is_object()) own.update(entry);
    const std::string source = fmt::format("{}: layers[{}]", hybrid.source(), layers.size());
    LRNN_CHECK(entry.is_string() || (entry.is_object() && entry.value("layer", nlohmann::json()).is_string()),
               "{}: expected the name of a layer or an object with its name as \"layer\", got {}", source,
               entry.dump());
    own["model_type"] = entry.is_string() ? entry : entry["layer"];
    own.erase("layer");
    layers.emplace_back(std::move(own), source);
  }
  return layers;
}

std::vector<Fields> LayerConfigs(const Fields& model) {
  const bool is_hybrid = model.String("model_type") == kHybrid;
  const std::vector<Fields> pattern = is_hybrid ? ListedLayers(model) : std::vector<Fields>{model};
  const auto length = static_cast<int64_t>(pattern.size());
  const int64_t count =
      is_hybrid ? model.PositiveInt("num_hidden_layers", length) : model.PositiveInt("num_hidden_layers");
  if (count % length != 0) {
    model.Refuse("num_hidden_layers", fmt::format("a multiple of {} (the number of \"layers\")", length));
  }
  std::vector<Fields> layers;
  for (int64_t i = 0; i < count; ++i) layers.push_back(pattern[i % length]);
  return layers;
}

}  // namespace lrnn
