// lrnn layers: what models are built of.
#include <fmt/core.h>

#include <algorithm>

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

std::string Range(EigenvalueRange range) { return fmt::format("[{},{}]", range.low, range.high); }

std::string StateBytes(const Model& model) {
  constexpr auto kItem = static_cast<int64_t>(sizeof(float));
  std::string text = fmt::format("{}", model->state_size() * kItem);
  if (model->state_growth() > 0) text += fmt::format(" + {}/token", model->state_growth() * kItem);
  return text;
}

void ListLayers() {
  static constexpr char kRow[] = "{:<19} {:<15} {:<32} {:<10} {:<9} {:>10} {:>15}\n";
  fmt::print(kRow, "layer", "", "transition", "original", "extended", "parameters", "state bytes");
  for (const LayerInfo& layer : Layers()) {
    const Model model = PaperModel(layer);
    fmt::print(kRow, layer.name, layer.title, layer.is_linear() ? layer.transition : "not linear",
               layer.is_linear() ? Range(layer.original) : "-",
               layer.has_extended_range() ? Range(layer.extended) : "-", model->parameter_count(), StateBytes(model));
  }
  fmt::print(
      "\nParameters and state of a model with hidden_size 128, 2 layers and 10 tokens. Settings of a layer: lrnn "
      "layers NAME\n");
}

void ShowLayer(const std::string& name) {
  const LayerInfo& layer = FindLayer(name);
  if (layer.is_linear()) {
    fmt::print("{}: transition {}; eigenvalues in {}{}\n", layer.title, layer.transition, Range(layer.original),
               layer.has_extended_range() ? ", extended " + Range(layer.extended) : "");
  } else {
    fmt::print("{}: not a linear RNN\n", layer.title);
  }
  fmt::print("\nKeys in the [model] section, with their defaults:\n");
  size_t width = 0;
  for (const ConfigKey& key : layer.keys) width = std::max(width, std::string(key.name).size());
  for (const ConfigKey& key : layer.keys) {
    fmt::print("  {:<{}} {:<8} {}\n", key.name, width, key.value.dump(), key.help);
  }
}

}  // namespace

void AddLayers(CLI::App& app) {
  auto name = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("layers", "list the layers, their eigenvalue ranges and sizes");
  command->add_option("NAME", *name, "show the settings of this layer");
  command->callback([name] { name->empty() ? ListLayers() : ShowLayer(*name); });
}

}  // namespace lrnn::cli
