#include "lrnn/report/run_summary.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <sstream>
#include <string>
#include <vector>

#include "lrnn/base/error.h"
#include "lrnn/io/atomic_file.h"
#include "lrnn/io/fields.h"
#include "lrnn/io/json_file.h"
#include "lrnn/io/run_directory.h"
#include "lrnn/report/field_checks.h"
#include "lrnn/report/learning_curve.h"
#include "lrnn/report/length_accuracy.h"
#include "lrnn/report/spectrum_summary.h"

namespace lrnn {
namespace {

// TOML as JSON, so that its fields are read with the same checks and messages.
Fields ParseConfig(const std::string& text, const std::string& source) {
  try {
    std::ostringstream json;
    const toml::table table = toml::parse(text);
    json << toml::json_formatter(table);
    return Fields(ParseJson(json.str(), source), source);
  } catch (const toml::parse_error& error) {
    const toml::source_position& place = error.source().begin;
    Fail("{}:{}:{}: {}", source, place.line, place.column, error.description());
  }
}

// "delta_net" -> "DeltaNet": a layer's name is its registered name in PascalCase.
std::string LayerName(const std::string& layer) {
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

// "[-1,1]" -> [-1, 1]
nlohmann::json EigenvalueRange(const Fields& model) {
  const nlohmann::json range = nlohmann::json::parse(model.String("eigenvalues"), nullptr, false);
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
  const Fields config = ParseConfig(text, directory.config_path().string());
  const Fields task = config.Object("task");
  const Fields model = config.Object("model");
  const std::string task_name = task.String("name");
  if (task_name.empty()) task.Refuse("name", "the name of a task");
  const std::filesystem::path clean = (run / "").lexically_normal().parent_path();  // without a slash at the end

  nlohmann::json summary = {{"name", clean.filename().string()},
                            {"path", clean.string()},
                            {"title", config.Has("run") ? config.Object("run").String("title", "") : ""},
                            {"task", task_name},
                            {"layer", model.String("layer")},
                            {"layer_name", LayerName(model.String("layer"))},
                            {"eigenvalues", model.String("eigenvalues")},
                            {"range", EigenvalueRange(model)},
                            {"train_lengths", LengthRange(task, "train_lengths")},
                            {"config", text},
                            {"train", Train(directory.train_path(), config.Object("train"))},
                            {"reference", Reference(config)},
                            {"learning", LearningCurve(directory.metrics_path())},
                            {"chance", nullptr},
                            {"by_length", nullptr},
                            {"long", nlohmann::json::array()},
                            {"spectrum", nullptr}};
  if (std::filesystem::exists(directory.eval_path())) summary.update(LengthAccuracy(directory.eval_path(), task_name));
  if (std::filesystem::exists(directory.spectrum_path())) {
    summary["spectrum"] = SpectrumSummary(directory.spectrum_path(), task_name);
  }
  return summary;
}

}  // namespace lrnn
