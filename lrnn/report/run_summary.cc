#include "lrnn/report/run_summary.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <string>
#include <vector>

#include "lrnn/io/atomic_file.h"
#include "lrnn/io/fields.h"
#include "lrnn/io/json_file.h"
#include "lrnn/io/run_directory.h"
#include "lrnn/report/field_checks.h"
#include "lrnn/report/learning_curve.h"
#include "lrnn/report/length_accuracy.h"
#include "lrnn/report/spectrum_summary.h"
#include "lrnn/report/toml_fields.h"

namespace lrnn {
namespace {

// "delta_net" -> "DeltaNet": a layer's name is its registered name in PascalCase, but for those that are abbreviations.
std::string LayerName(const std::string& layer) {
  static const std::map<std::string, std::string> abbreviations = {
      {"gla", "GLA"}, {"lstm", "LSTM"}, {"mlstm", "mLSTM"}, {"slstm", "sLSTM"}};
  if (const auto known = abbreviations.find(layer); known != abbreviations.end()) return known->second;
  std::string name;
  bool is_start = true;
  for (char c : layer) {
    if (c == '_') {
      is_start = true;
    } else {
      name += is_start && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
      is_start = false;
    }
  }
  return name;
}

// The names of the model's layers: one, or those of a hybrid, which are names or tables with a name.
std::vector<std::string> LayerKinds(const Fields& model) {
  if (!model.Has("layers")) return {model.String("layer")};
  std::vector<std::string> kinds;
  for (const nlohmann::json& layer : model.json().at("layers")) {
    if (layer.is_string()) kinds.push_back(layer);
    if (layer.is_object() && layer.contains("layer") && layer["layer"].is_string()) kinds.push_back(layer["layer"]);
  }
  if (kinds.empty() || kinds.size() != model.json().at("layers").size()) model.Refuse("layers", "a list of layers");
  return kinds;
}

std::string Join(const std::vector<std::string>& words) { return fmt::format("{}", fmt::join(words, " + ")); }

// "[-1,1]" -> [-1, 1]; null for layers without bounds and for those that are no linear RNNs.
nlohmann::json EigenvalueRange(const Fields& model) {
  const std::string text = model.String("eigenvalues", "");
  if (text.empty() || text.find("inf") != std::string::npos) return nullptr;
  const nlohmann::json range = nlohmann::json::parse(text, nullptr, false);
  const bool is_range = range.is_array() && range.size() == 2 && range[0].is_number() && range[1].is_number() &&
                        range[0].get<double>() < range[1].get<double>();
  if (!is_range) model.Refuse("eigenvalues", "a range such as \"[-1,1]\"");
  return range;
}

nlohmann::json Reference(const Fields& config) {
  if (!config.Has("reference")) return nullptr;
  const Fields reference = config.Object("reference");
  return {{"source", reference.String("source")}, {"scaled_accuracy", reference.Double("scaled_accuracy")}};
}

nlohmann::json Train(const std::filesystem::path& path, const Fields& settings) {
  const Fields train(ReadJson(path), path.string());
  CheckFormat(train, "lrnn.train", 1);
  const std::string state = train.String("state");
  if (state != "complete" && state != "running" && state != "interrupted" && state != "failed") {
    train.Refuse("state", "complete, running, interrupted or failed");
  }
  const Fields hardware = train.Object("hardware");
  const int64_t tokens = NonNegativeInt(train, "tokens");
  const double seconds = NonNegative(train, "seconds");
  return {{"state", state},
          {"step", NonNegativeInt(train, "step")},
          {"steps", train.PositiveInt("steps")},
          {"tokens", tokens},
          {"seconds", seconds},
          {"tokens_per_second", seconds > 0 ? static_cast<double>(tokens) / seconds : 0.0},
          {"parameters", train.PositiveInt("parameters")},
          {"batch_size", settings.PositiveInt("batch_size")},
          {"learning_rate", settings.Double("learning_rate")},
          {"seed", settings.Int("seed", 0)},
          {"hardware", {{"cpu", hardware.String("cpu")}, {"threads", hardware.PositiveInt("threads")}}},
          {"lrnn_version", train.String("lrnn_version")}};
}

}  // namespace

nlohmann::json SummariseRun(const std::filesystem::path& run) {
  const RunDirectory directory = RunDirectory::Open(run);
  const std::string text = ReadFile(directory.config_path());
  const Fields config = ParseTomlFields(text, directory.config_path().string());
  const Fields task = config.Object("task");
  const Fields model = config.Object("model");
  const std::string task_name = task.String("name");
  if (task_name.empty()) task.Refuse("name", "the name of a task");
  const std::filesystem::path clean = (run / "").lexically_normal().parent_path();  // without a slash at the end
  const std::vector<std::string> kinds = LayerKinds(model);
  std::vector<std::string> names;
  for (const std::string& kind : kinds) names.push_back(LayerName(kind));

  nlohmann::json summary = {{"name", clean.filename().string()},
                            {"path", clean.string()},
                            {"title", config.Has("run") ? config.Object("run").String("title", "") : ""},
                            {"task", task_name},
                            {"layer", Join(kinds)},
                            {"layer_name", Join(names)},
                            {"range", EigenvalueRange(model)},
                            {"train_lengths", LengthRange(task, "train_lengths")},
                            {"config", text},
                            {"train", Train(directory.train_path(), config.Object("train"))},
                            {"reference", Reference(config)},
                            {"learning", LearningCurve(directory.metrics_path())},
                            {"chance", nullptr},
                            {"by_length", nullptr},
                            {"long", nlohmann::json::array()},
                            {"bf16", nullptr},
                            {"horizon", nullptr},
                            {"spectrum", nullptr}};
  summary["eigenvalues"] = summary["range"].is_null() ? "" : model.String("eigenvalues");
  if (std::filesystem::exists(directory.eval_path())) summary.update(LengthAccuracy(directory.eval_path(), task_name));
  if (std::filesystem::exists(directory.spectrum_path())) {
    summary["spectrum"] = SpectrumSummary(directory.spectrum_path(), task_name);
  }
  return summary;
}

}  // namespace lrnn
