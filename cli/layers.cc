// lrnn layers: what models are built of.
#include <fmt/core.h>

#include "cli/commands.h"
#include "lrnn/layers/registry.h"
#include "lrnn/models/model.h"

namespace lrnn::cli {
namespace {

// A model of the paper's size, to show what a layer costs.
Model PaperModel(const LayerInfo& layer) {
  return Model(Fields({{"model_type", layer.name}, {"vocab_size", 10}, {"hidden_size", 128}, {"num_hidden_layers", 2}},
                      "lrnn layers"),
               0);
}

void ListLayers() {
  fmt::print("{:<12} {:<12} {:<18} {:<9} {:<9} {:>10} {:>12}\n", "layer", "", "transition", "original", "extended",
             "parameters", "state bytes");
  for (const LayerInfo& layer : Layers()) {
    const auto range = [](EigenvalueRange r) { return fmt::format("[{},{}]", r.low, r.high); };
    const Model model = PaperModel(layer);
    fmt::print("{:<12} {:<12} {:<18} {:<9} {:<9} {:>10} {:>12}\n", layer.name, layer.title, layer.transition,
               range(layer.original), range(layer.extended), model->parameter_count(),
               model->state_size() * static_cast<int64_t>(sizeof(float)));
  }
  fmt::print(
      "\nParameters and state of a model with hidden_size 128, 2 layers and 10 tokens. Settings of a layer: lrnn "
      "layers NAME\n");
}

void ShowLayer(const std::string& name) {
  const LayerInfo& layer = FindLayer(name);
  fmt::print(
      "{}: transition {}; eigenvalues in [{},{}], extended [{},{}]\n\nKeys in the [model] section, with their "
      "defaults:\n",
      layer.title, layer.transition, layer.original.low, layer.original.high, layer.extended.low, layer.extended.high);
  for (const ConfigKey& key : layer.keys) fmt::print("  {:<20} {:<8} {}\n", key.name, key.value.dump(), key.help);
}

}  // namespace

void AddLayers(CLI::App& app) {
  auto name = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("layers", "list the layers, their eigenvalue ranges and sizes");
  command->add_option("NAME", *name, "show the settings of this layer");
  command->callback([name] { name->empty() ? ListLayers() : ShowLayer(*name); });
}

}  // namespace lrnn::cli
