#include "lrnn/experiments/experiment.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <sstream>

#include "lrnn/base/error.h"
#include "lrnn/report/field_checks.h"
#include "lrnn/report/toml_fields.h"

namespace lrnn {
namespace {

const std::vector<std::string> kFolders = {"configs/paper", "configs/beyond"};

void RefuseUnknown(const Fields& fields, const std::set<std::string>& known) {
  for (const auto& [name, value] : fields.json().items()) {
    if (!known.contains(name)) fields.Refuse(name, fmt::format("one of the fields {}", fmt::join(known, ", ")));
  }
}

Settings ReadSettings(const Fields& fields, const std::string& name) {
  if (!fields.Has(name)) return Settings::object();
  const nlohmann::json& settings = fields.json().at(name);
  bool is_right = settings.is_object();
  if (is_right) {
    for (const auto& [key, value] : settings.items()) is_right &= key.find('.') != std::string::npos;
  }
  if (!is_right) fields.Refuse(name, "settings such as {\"train.steps\" = 100}");
  return settings;
}

std::map<std::string, Settings> ReadBudgetSettings(const Fields& fields) {
  std::map<std::string, Settings> all;
  for (const std::string& budget : kBudgets) all[budget] = ReadSettings(fields, budget);
  return all;
}

std::optional<double> OptionalDouble(const Fields& fields, std::string_view name) {
  if (!fields.Has(name)) return {};
  return fields.Double(name);
}

// Lines "length,score" after a header.
std::vector<std::pair<double, double>> ReadCurve(const std::string& text, const std::string& place, double offset) {
  std::vector<std::pair<double, double>> curve;
  std::istringstream lines(text);
  std::string line;
  std::getline(lines, line);
  for (int number = 2; std::getline(lines, line); ++number) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    double x = 0, y = 0;
    const char* const end = line.data() + line.size();
    const auto first = std::from_chars(line.data(), end, x);
    const bool has_comma = first.ec == std::errc() && first.ptr != end && *first.ptr == ',';
    const auto second = has_comma ? std::from_chars(first.ptr + 1, end, y) : first;
    LRNN_CHECK(has_comma && second.ec == std::errc() && second.ptr == end, "{}:{}: expected length,score, got \"{}\"",
               place, number, line);
    curve.emplace_back(x + offset, y);
  }
  return curve;
}

std::vector<int64_t> ReadSeeds(const Fields& fields, const std::string& name) {
  std::vector<int64_t> seeds;
  for (double seed : Numbers(fields, name)) {
    if (seed < 0 || seed != static_cast<double>(static_cast<int64_t>(seed))) {
      fields.Refuse(name, "integers that are not negative");
    }
    seeds.push_back(static_cast<int64_t>(seed));
  }
  if (seeds.empty()) fields.Refuse(name, "at least one seed");
  return seeds;
}

Budget ReadBudget(const Fields& fields) {
  RefuseUnknown(fields, {"seeds", "learning_rates", "sequences", "spectrum", "horizon", "settings"});
  Budget budget;
  budget.seeds = ReadSeeds(fields, "seeds");
  budget.learning_rates = Numbers(fields, "learning_rates");
  budget.sequences = fields.Int("sequences", 0);
  budget.has_spectrum = fields.Bool("spectrum", false);
  budget.horizon = fields.Int("horizon", 0);
  budget.settings = ReadSettings(fields, "settings");
  return budget;
}

ExperimentRow ReadRow(const Fields& fields, const ExperimentFiles& files, const std::string& folder, double offset) {
  RefuseUnknown(fields, {"label", "config", "median", "mad", "curve", "spectrum", "smoke", "short", "full"});
  ExperimentRow row;
  row.label = fields.String("label");
  row.config = folder + "/" + fields.String("config");
  row.config_text = files.Read(row.config);
  const Fields config = ParseTomlFields(row.config_text, files.Place(row.config));
  row.values = config.json();
  row.has_spectrum = fields.Bool("spectrum", true);
  row.settings = ReadBudgetSettings(fields);
  if (config.Has("reference")) row.paper.best = config.Object("reference").Double("scaled_accuracy");
  row.paper.median = OptionalDouble(fields, "median");
  row.paper.mad = OptionalDouble(fields, "mad");
  if (fields.Has("curve")) {
    const std::string file = "data/paper/" + fields.String("curve");
    row.paper.curve = ReadCurve(files.Read(file), files.Place(file), offset);
  }
  return row;
}

ExperimentGroup ReadGroup(const Fields& fields, const ExperimentFiles& files, const std::string& folder,
                          double offset) {
  RefuseUnknown(fields, {"name", "title", "note", "horizon", "seeds", "smoke", "short", "full", "rows"});
  ExperimentGroup group;
  group.name = fields.String("name");
  group.title = fields.String("title");
  group.note = fields.String("note", "");
  group.has_horizon = fields.Bool("horizon", false);
  group.settings = ReadBudgetSettings(fields);
  if (fields.Has("seeds")) {
    const Fields seeds = fields.Object("seeds");
    RefuseUnknown(seeds, {kBudgets.begin(), kBudgets.end()});
    for (const std::string& budget : kBudgets) {
      if (seeds.Has(budget)) group.seeds[budget] = ReadSeeds(seeds, budget);
    }
  }
  for (const Fields& row : Objects(fields, "rows")) group.rows.push_back(ReadRow(row, files, folder, offset));
  if (group.rows.empty()) fields.Refuse("rows", "at least one row");
  return group;
}

}  // namespace

std::vector<std::string> ExperimentNames(const ExperimentFiles& files) {
  std::vector<std::string> names;
  for (const std::string& folder : kFolders) {
    for (const std::string& name : files.TomlNames(folder)) names.push_back(name);
  }
  return names;
}

Experiment ReadExperiment(const ExperimentFiles& files, const std::string& name) {
  const std::vector<std::string> known = ExperimentNames(files);
  LRNN_CHECK(std::find(known.begin(), known.end(), name) != known.end(), "unknown experiment \"{}\" (known: {})", name,
             fmt::join(known, ", "));
  std::string folder;
  for (const std::string& candidate : kFolders) {
    const std::vector<std::string> names = files.TomlNames(candidate);
    if (std::find(names.begin(), names.end(), name) != names.end()) folder = candidate;
  }
  const std::string file = folder + "/" + name + ".toml";
  const Fields fields = ParseTomlFields(files.Read(file), files.Place(file));
  RefuseUnknown(fields,
                {"title", "summary", "paper", "score", "lengths", "curve_offset", "evaluations", "budgets", "groups"});

  Experiment experiment;
  experiment.name = name;
  experiment.title = fields.String("title");
  experiment.summary = fields.String("summary");
  experiment.paper = fields.String("paper");
  experiment.score = fields.String("score");
  if (experiment.score != "scaled_accuracy" && experiment.score != "sequence_accuracy") {
    fields.Refuse("score", "scaled_accuracy or sequence_accuracy");
  }
  const nlohmann::json lengths = LengthRange(fields, "lengths");
  experiment.shortest = lengths[0];
  experiment.longest = lengths[1];
  bool is_evaluated = false;
  for (const Fields& evaluation : Objects(fields, "evaluations")) {
    RefuseUnknown(evaluation, {"lengths", "sequences", "precision"});
    const nlohmann::json range = LengthRange(evaluation, "lengths");
    const std::string precision = evaluation.String("precision", "fp32");
    if (precision != "fp32" && precision != "bf16") evaluation.Refuse("precision", "fp32 or bf16");
    experiment.evaluations.push_back({range[0], range[1], evaluation.PositiveInt("sequences"), precision});
    is_evaluated |= range == lengths && precision == "fp32";
  }
  if (!is_evaluated) fields.Refuse("lengths", "the lengths of one of the evaluations");
  const Fields budgets = fields.Object("budgets");
  for (const std::string& budget : kBudgets) experiment.budgets[budget] = ReadBudget(budgets.Object(budget));
  for (const Fields& group : Objects(fields, "groups")) {
    experiment.groups.push_back(ReadGroup(group, files, folder, fields.Double("curve_offset", 0)));
  }
  if (experiment.groups.empty()) fields.Refuse("groups", "at least one group");
  return experiment;
}

}  // namespace lrnn
