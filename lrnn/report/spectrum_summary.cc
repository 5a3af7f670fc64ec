#include "lrnn/report/spectrum_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "lrnn/io/fields.h"
#include "lrnn/io/json_file.h"
#include "lrnn/report/field_checks.h"

namespace lrnn {
namespace {

nlohmann::json Layer(const Fields& layer) {
  const std::vector<double> edges = Numbers(layer, "edges");
  if (edges.size() < 2 || !std::is_sorted(edges.begin(), edges.end()))
    layer.Refuse("edges", "two or more growing numbers");
  const std::vector<double> counts = Numbers(layer, "counts");
  if (counts.size() + 1 != edges.size())
    layer.Refuse("counts", fmt::format("{} numbers, one for each bin", edges.size() - 1));
  if (std::any_of(counts.begin(), counts.end(), [](double n) { return n < 0; })) {
    layer.Refuse("counts", "numbers that are not negative");
  }
  const double share = layer.Double("share_negative");
  if (!(share >= 0 && share <= 1)) layer.Refuse("share_negative", "a number in [0, 1]");
  return {{"layer", NonNegativeInt(layer, "layer")},
          {"edges", edges},
          {"counts", counts},
          {"min", layer.Double("min")},
          {"max", layer.Double("max")},
          {"share_negative", share}};
}

}  // namespace

nlohmann::json SpectrumSummary(const std::filesystem::path& spectrum_path, std::string_view task) {
  const Fields spectrum(ReadJson(spectrum_path), spectrum_path.string());
  CheckFormat(spectrum, "lrnn.spectrum", 1);
  CheckTask(spectrum, task);
  const std::vector<double> range = Numbers(spectrum, "range");
  if (range.size() != 2 || !(range[0] < range[1])) spectrum.Refuse("range", "two numbers [low, high]");
  nlohmann::json layers = nlohmann::json::array();
  for (const Fields& layer : Objects(spectrum, "layers")) layers.push_back(Layer(layer));
  if (layers.empty()) spectrum.Refuse("layers", "at least one layer");
  return {{"range", range}, {"tokens", NonNegativeInt(spectrum, "tokens")}, {"layers", layers}};
}

}  // namespace lrnn
