#include "lrnn/train/config.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <sstream>

#include "lrnn/base/error.h"
#include "lrnn/io/atomic_file.h"
#include "lrnn/io/layer_configs.h"
#include "lrnn/layers/registry.h"
#include "lrnn/models/model.h"
#include "lrnn/tasks/registry.h"
#include "lrnn/train/toml_reader.h"

namespace lrnn {
namespace {

// Settings of config.json that every layer's model takes.
const std::vector<std::string> kModelKeys = {"hidden_ratio", "intermediate_size", "initializer_range",
                                             "tie_word_embeddings", "use_final_norm"};

// nullptr for what is no scalar.
nlohmann::json ScalarToJson(const toml::node& node) {
  if (const auto value = node.value_exact<bool>()) return *value;
  if (const auto value = node.value_exact<int64_t>()) return *value;
  if (const auto value = node.value_exact<double>()) return *value;
  if (const auto value = node.value_exact<std::string>()) return *value;
  return nullptr;
}

nlohmann::json ToJson(TomlSection& section, const std::string& key) {
  nlohmann::json value = ScalarToJson(section.Node(key));
  if (value.is_null()) section.Refuse(key, "a number, a string, true or false");
  return value;
}

const LayerInfo& KnownLayer(const TomlSection& section, std::string_view key, const std::string& name) {
  try {
    return FindLayer(name);
  } catch (const Error& error) {
    section.Complain(key, error.what());
  }
}

std::string RangeText(EigenvalueRange range) { return fmt::format("[{},{}]", range.low, range.high); }

// allow_neg_eigval of a range such as "[-1,1]", nothing when none of the layers has it.
std::optional<bool> ParseRange(std::string value, const std::vector<const LayerInfo*>& layers) {
  std::erase(value, ' ');
  for (const LayerInfo* layer : layers) {
    if (layer->has_extended_range() && value == RangeText(layer->extended)) return true;
  }
  for (const LayerInfo* layer : layers) {
    if (layer->is_linear() && value == RangeText(layer->original)) return false;
  }
  return std::nullopt;
}

// `"[0,1]" or "[-1,1]"`: what ParseRange takes.
std::string KnownRanges(const std::vector<const LayerInfo*>& layers) {
  std::vector<std::string> known;
  for (bool extended : {false, true}) {
    for (const LayerInfo* layer : layers) {
      const std::string text = fmt::format("\"{}\"", RangeText(extended ? layer->extended : layer->original));
      if (layer->is_linear() && std::find(known.begin(), known.end(), text) == known.end()) known.push_back(text);
    }
  }
  return fmt::format("{}", fmt::join(known, " or "));
}

bool ParseEigenvalues(TomlSection& section, const std::vector<const LayerInfo*>& layers) {
  if (std::none_of(layers.begin(), layers.end(), [](const LayerInfo* layer) { return layer->is_linear(); })) {
    if (section.Has("eigenvalues")) {
      section.Complain("eigenvalues",
                       fmt::format("{} is no linear RNN: leave \"eigenvalues\" out", layers.front()->name));
    }
    return false;
  }
  const std::optional<bool> extended = ParseRange(section.String("eigenvalues"), layers);
  if (!extended) section.Refuse("eigenvalues", KnownRanges(layers));
  return *extended;
}

// The `layers` of config.json from those of the section, and in `infos` what they are.
nlohmann::json ParseLayers(TomlSection& section, std::vector<const LayerInfo*>& infos) {
  const toml::array* const list = section.Node("layers").as_array();
  if (!list || list->empty()) section.Refuse("layers", "a list of layers");
  nlohmann::json layers = nlohmann::json::array();
  for (const toml::node& node : *list) {
    if (const auto name = node.value_exact<std::string>()) {
      infos.push_back(&KnownLayer(section, "layers", *name));
      layers.push_back(*name);
      continue;
    }
    const toml::table* const table = node.as_table();
    const auto name = table ? (*table)["layer"].value_exact<std::string>() : std::nullopt;
    if (!name) section.Refuse("layers", "names of layers, and tables with a name as \"layer\"");
    infos.push_back(&KnownLayer(section, "layers", *name));
    nlohmann::json entry = nlohmann::json::object();
    for (const auto& [key, value] : *table) {
      const nlohmann::json scalar = ScalarToJson(value);
      if (scalar.is_null()) section.Refuse("layers", "numbers, strings, true and false in the tables");
      entry[std::string(key.str())] = scalar;
    }
    if (entry.contains("eigenvalues")) {
      const std::vector<const LayerInfo*> own{infos.back()};
      const nlohmann::json& range = entry["eigenvalues"];
      const std::optional<bool> extended = range.is_string() ? ParseRange(range.get<std::string>(), own) : std::nullopt;
      if (!extended) {
        section.Complain("layers",
                         fmt::format("eigenvalues of {}: expected {}, got {}", *name, KnownRanges(own), range.dump()));
      }
      entry["allow_neg_eigval"] = *extended;
      entry.erase("eigenvalues");
    }
    layers.push_back(std::move(entry));
  }
  return layers;
}

// The task that [task] names, with those of its parameters that are there.
std::shared_ptr<const Task> ParseTask(TomlSection& section, nlohmann::json& parameters) {
  const std::string name = section.String("name");
  parameters = nlohmann::json::object();
  for (const TaskInfo& info : Tasks()) {
    if (info.name != name) continue;
    for (const TaskParameter& parameter : info.parameters) {
      if (section.Has(parameter.name)) parameters[parameter.name] = ToJson(section, parameter.name);
    }
  }
  try {
    return MakeTask(name, parameters);
  } catch (const Error& error) {
    section.Complain("name", error.what());
  }
}

nlohmann::json ParseModel(TomlSection& section, const Task& task, const nlohmann::json& task_parameters) {
  nlohmann::json config = {{"vocab_size", task.vocab_size()}};
  std::vector<const LayerInfo*> layers;
  const char* const place = section.Has("layers") ? "layers" : "layer";
  if (section.Has("layers")) {
    if (section.Has("layer")) section.Complain("layers", "expected \"layer\" or \"layers\", got both");
    config["model_type"] = kHybrid;
    config["layers"] = ParseLayers(section, layers);
  } else {
    layers.push_back(&KnownLayer(section, "layer", section.String("layer")));
    config["model_type"] = layers.front()->name;
  }
  config["lrnn"] = {{"task", task.name()}, {"task_parameters", task_parameters}, {"symbols", task.symbols()}};
  config["allow_neg_eigval"] = ParseEigenvalues(section, layers);
  config["hidden_size"] = section.Int("hidden_size", 1);
  config["num_hidden_layers"] = section.Int("num_hidden_layers", 1);

  std::vector<std::string> keys = kModelKeys;
  for (const LayerInfo* layer : layers) {
    for (const ConfigKey& key : layer->keys) keys.push_back(key.name);
  }
  for (const std::string& key : keys) {
    if (section.Has(key)) config[key] = ToJson(section, key);
  }
  section.RefuseUnread(keys);
  // What the layer itself refuses is refused now, not in the middle of a run.
  Model(Fields(config, section.Place(place)), 0);
  return config;
}

LengthRange ParseLengths(TomlSection& section, std::string_view key, const Task& task) {
  const auto [min, max] = section.Range(key);
  if (min < task.min_length()) section.Refuse(key, fmt::format("lengths from {} on for this task", task.min_length()));
  try {
    CheckLengths(task, {min, max});
  } catch (const Error& error) {
    section.Complain(key, error.what());
  }
  return {min, max};
}

}  // namespace

TrainConfig ParseTrainConfig(const std::string& text, const std::string& file,
                             const std::vector<std::string>& overrides) {
  toml::table table = ParseToml(text, file);
  for (const std::string& assignment : overrides) OverrideToml(table, assignment);

  TrainConfig config;
  config.text = text;
  if (!overrides.empty()) {
    std::ostringstream out;
    out << table << "\n";
    config.text = out.str();
  }
  for (const auto& [key, node] : table) {
    const std::string_view name = key.str();
    LRNN_CHECK(name == "run" || name == "task" || name == "model" || name == "train" || name == "reference",
               "{}:{}: unknown section [{}] (known: run, task, model, train, reference)", file,
               node.source().begin.line, name);
  }

  TomlSection run(table, "run", file);
  run.String("title", "");
  run.RefuseUnread();

  TomlSection task(table, "task", file);
  nlohmann::json task_parameters;
  config.task = ParseTask(task, task_parameters);
  config.train_lengths = ParseLengths(task, "train_lengths", *config.task);
  config.eval_lengths = ParseLengths(task, "eval_lengths", config.task->held_out());
  std::vector<std::string> parameter_names;
  for (const TaskParameter& parameter : FindTask(config.task->name()).parameters) {
    parameter_names.push_back(parameter.name);
  }
  task.RefuseUnread(parameter_names);

  TomlSection model(table, "model", file);
  config.model = ParseModel(model, *config.task, task_parameters);

  TomlSection train(table, "train", file);
  config.steps = train.Int("steps", 1);
  config.batch_size = train.Int("batch_size", 1);
  config.learning_rate = train.Double("learning_rate", 0.0);
  config.warmup_steps = train.Int("warmup_steps", 0, 0);
  config.min_learning_rate_ratio = train.Double("min_learning_rate_ratio", 1e-3, 0.0);
  config.weight_decay = train.Double("weight_decay", 0.0, 0.0);
  config.beta1 = train.Double("beta1", 0.9, 0.0);
  config.beta2 = train.Double("beta2", 0.999, 0.0);
  config.epsilon = train.Double("epsilon", 1e-8, 0.0);
  config.label_smoothing = train.Double("label_smoothing", 0.0, 0.0);
  config.clip_gradient_norm = train.Double("clip_gradient_norm", std::numeric_limits<double>::infinity(), 0.0);
  const auto precision = PrecisionNamed(train.String("precision", Name(Precision::kFloat32)));
  config.seed = static_cast<uint64_t>(train.Int("seed", 0, 0));
  config.threads = static_cast<int>(train.Int("threads", 0, 0));
  config.log_every = train.Int("log_every", 10, 1);
  config.eval_every = train.Int("eval_every", 0, 0);
  config.eval_sequences = train.Int("eval_sequences", 1024, 1);
  config.curriculum_start = train.Int("curriculum_start", 0, 0);
  config.curriculum_loss = train.Double("curriculum_loss", 0.3, 0.0);
  config.stop_at_accuracy = train.Double("stop_at_accuracy", std::numeric_limits<double>::infinity(), 0.0);
  config.checkpoint_every = train.Int("checkpoint_every", 200, 1);
  train.RefuseUnread();
  if (config.warmup_steps > config.steps) train.Refuse("warmup_steps", fmt::format("at most steps = {}", config.steps));
  if (config.curriculum_start > config.train_lengths.max ||
      (config.curriculum_start > 0 && config.curriculum_start < config.task->min_length())) {
    train.Refuse("curriculum_start",
                 fmt::format("0 or a length from {} to {}", config.task->min_length(), config.train_lengths.max));
  }
  if (!precision) train.Refuse("precision", "\"fp32\" or \"bf16\"");
  config.precision = *precision;
  if (config.label_smoothing >= 1) train.Refuse("label_smoothing", "a number below 1");
  if (config.clip_gradient_norm == 0) train.Refuse("clip_gradient_norm", "a number above 0");
  if (config.beta1 >= 1) train.Refuse("beta1", "a number below 1");
  if (config.beta2 >= 1) train.Refuse("beta2", "a number below 1");

  TomlSection reference(table, "reference", file);
  if (table.contains("reference")) {
    reference.String("source");
    reference.Double("scaled_accuracy", -1.0);
    reference.RefuseUnread();
  }
  return config;
}

TrainConfig ReadTrainConfig(const std::filesystem::path& path, const std::vector<std::string>& overrides) {
  return ParseTrainConfig(ReadFile(path), path.string(), overrides);
}

}  // namespace lrnn
