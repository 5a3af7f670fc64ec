#include "lrnn/experiments/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "lrnn/base/error.h"

namespace lrnn {
namespace {

using nlohmann::json;

// The value of a configuration's "section.key" after the settings.
const json& Value(const json& config, const Settings& settings, const std::string& name) {
  if (settings.contains(name)) return settings.at(name);
  const size_t dot = name.find('.');
  return config.at(name.substr(0, dot)).at(name.substr(dot + 1));
}

// What the caller asks for, or else the group, or else the budget.
std::vector<int64_t> Seeds(const PlanOptions& options, const ExperimentGroup& group, const Budget& budget) {
  if (!options.seeds.empty()) return options.seeds;
  const auto own = group.seeds.find(options.budget);
  return own != group.seeds.end() ? own->second : budget.seeds;
}

// Budget, group and row, the later ones stronger.
Settings Merge(const Budget& budget, const Settings& group, const Settings& row) {
  Settings settings = budget.settings;
  settings.update(group);
  settings.update(row);
  return settings;
}

}  // namespace

std::string LearningRateText(double learning_rate) { return fmt::format("{:g}", learning_rate); }

std::vector<std::string> Assignments(const Settings& settings) {
  std::vector<std::string> assignments;
  for (const auto& [name, value] : settings.items()) assignments.push_back(fmt::format("{}={}", name, value.dump()));
  return assignments;
}

Plan MakePlan(const Experiment& experiment, const PlanOptions& options) {
  const auto found = experiment.budgets.find(options.budget);
  LRNN_CHECK(found != experiment.budgets.end(), "--budget: expected smoke, short or full, got \"{}\"", options.budget);
  const Budget& budget = found->second;
  Plan plan{&experiment, options.budget, options.threads, {}};
  for (size_t g = 0; g < experiment.groups.size(); ++g) {
    const ExperimentGroup& group = experiment.groups[g];
    for (size_t r = 0; r < group.rows.size(); ++r) {
      const ExperimentRow& row = group.rows[r];
      if ((group.name + "/" + row.label).find(options.only) == std::string::npos) continue;
      const Settings base = Merge(budget, group.settings.at(options.budget), row.settings.at(options.budget));
      std::vector<double> rates = options.learning_rates.empty() ? budget.learning_rates : options.learning_rates;
      if (rates.empty()) rates = {Value(row.values, base, "train.learning_rate").get<double>()};
      for (double rate : rates) {
        for (int64_t seed : Seeds(options, group, budget)) {
          PlannedRun run;
          run.id = fmt::format("{}-lr{}-seed{}", std::filesystem::path(row.config).stem().string(),
                               LearningRateText(rate), seed);
          run.group = g;
          run.row = r;
          run.learning_rate = rate;
          run.seed = seed;
          run.settings = base;
          run.settings["train.learning_rate"] = rate;
          run.settings["train.seed"] = seed;
          run.settings["train.threads"] = options.threads;
          run.steps = Value(row.values, base, "train.steps");
          const json& lengths = Value(row.values, base, "task.train_lengths");
          run.work = static_cast<double>(run.steps) * Value(row.values, base, "train.batch_size").get<double>() *
                     (lengths.at(0).get<double>() + lengths.at(1).get<double>()) / 2;
          run.evaluations = experiment.evaluations;
          if (budget.sequences > 0) {
            for (EvaluationPlan& evaluation : run.evaluations) evaluation.sequences = budget.sequences;
          }
          run.has_spectrum = budget.has_spectrum && row.has_spectrum;
          run.horizon = group.has_horizon ? budget.horizon : 0;
          plan.runs.push_back(run);
        }
      }
    }
  }
  // Seed after seed: a first whole table is there early.
  std::stable_sort(plan.runs.begin(), plan.runs.end(),
                   [](const PlannedRun& a, const PlannedRun& b) { return a.seed < b.seed; });
  LRNN_CHECK(!plan.runs.empty(), "--only: no row of {} contains \"{}\"", experiment.name, options.only);
  std::set<std::string> ids;
  for (const PlannedRun& run : plan.runs) LRNN_CHECK(ids.insert(run.id).second, "two runs are called {}", run.id);
  return plan;
}

}  // namespace lrnn
