#include "lrnn/experiments/results.h"

#include <fmt/format.h>

#include <map>

#include "lrnn/base/version.h"
#include "lrnn/experiments/runner.h"
#include "lrnn/experiments/score.h"
#include "lrnn/experiments/statistics.h"
#include "lrnn/io/run_directory.h"
#include "lrnn/report/run_summary.h"

namespace lrnn {
namespace {

using nlohmann::json;

json OrNull(const std::optional<double>& value) { return value ? json(*value) : json(); }

struct FinishedRun {
  const PlannedRun* run;
  RunScore score;
  json summary;
};

json RunRow(const FinishedRun& finished) {
  return {{"seed", finished.run->seed},  {"score", finished.score.value},         {"low", finished.score.low},
          {"high", finished.score.high}, {"sequences", finished.score.sequences}, {"path", finished.summary["path"]}};
}

json RateRow(double rate, const std::vector<const FinishedRun*>& runs) {
  std::vector<double> scores;
  json rows = json::array();
  for (const FinishedRun* run : runs) {
    scores.push_back(run->score.value);
    rows.push_back(RunRow(*run));
  }
  return {{"learning_rate", rate},
          {"median", Median(scores)},
          {"mad", MedianAbsoluteDeviation(scores)},
          {"best", *std::max_element(scores.begin(), scores.end())},
          {"runs", rows}};
}

// Validation by step, over the seeds: the steps at which every one of them was validated.
json LearningOverSeeds(const std::vector<const FinishedRun*>& runs) {
  std::map<int64_t, std::vector<double>> values;
  for (const FinishedRun* run : runs) {
    for (const json& point : run->summary["learning"]["validation"]) {
      values[point["step"].get<int64_t>()].push_back(point["scaled_accuracy"].get<double>());
    }
  }
  json curve = json::array();
  for (const auto& [step, of_step] : values) {
    if (of_step.size() < runs.size()) continue;
    curve.push_back({{"step", step}, {"mean", Mean(of_step)}, {"deviation", StandardDeviation(of_step)}});
  }
  return curve;
}

json Cost(const std::vector<FinishedRun>& runs) {
  double seconds = 0, tokens = 0;
  for (const FinishedRun& run : runs) {
    seconds += run.summary["train"]["seconds"].get<double>();
    tokens += run.summary["train"]["tokens"].get<double>();
  }
  return {{"seconds", seconds},
          {"tokens", tokens},
          {"tokens_per_second", seconds > 0 ? tokens / seconds : 0.0},
          {"runs", runs.size()}};
}

json Row(const ExperimentRow& row, const std::vector<FinishedRun>& finished) {
  json curve = json::array();
  for (const auto& [length, score] : row.paper.curve) curve.push_back({length, score});
  json result = {{"label", row.label},
                 {"config_name", row.config},
                 {"config", row.config_text},
                 {"paper",
                  {{"best", OrNull(row.paper.best)},
                   {"median", OrNull(row.paper.median)},
                   {"mad", OrNull(row.paper.mad)},
                   {"curve", curve}}},
                 {"rates", json::array()},
                 {"learning_rate", nullptr},
                 {"seeds", 0},
                 {"best", nullptr},
                 {"median", nullptr},
                 {"mad", nullptr},
                 {"learning", json::array()},
                 {"settings", json::object()},
                 {"cost", Cost(finished)},
                 {"run", nullptr}};
  if (finished.empty()) return result;

  std::vector<std::pair<double, std::vector<const FinishedRun*>>> by_rate;
  for (const FinishedRun& run : finished) {
    auto rate = std::find_if(by_rate.begin(), by_rate.end(),
                             [&run](const auto& other) { return other.first == run.run->learning_rate; });
    if (rate == by_rate.end()) rate = by_rate.insert(by_rate.end(), {run.run->learning_rate, {}});
    rate->second.push_back(&run);
  }
  size_t chosen = 0;
  for (const auto& [rate, runs] : by_rate) result["rates"].push_back(RateRow(rate, runs));
  const auto key = [&result](size_t i) {
    return std::pair(result["rates"][i]["median"].get<double>(), result["rates"][i]["best"].get<double>());
  };
  for (size_t i = 1; i < by_rate.size(); ++i) {
    if (key(i) > key(chosen)) chosen = i;
  }
  const std::vector<const FinishedRun*>& runs = by_rate[chosen].second;
  const FinishedRun* const best = *std::max_element(
      runs.begin(), runs.end(), [](const auto* a, const auto* b) { return a->score.value < b->score.value; });
  for (const char* name : {"learning_rate", "median", "mad", "best"}) result[name] = result["rates"][chosen][name];
  result["seeds"] = runs.size();
  result["learning"] = LearningOverSeeds(runs);
  result["settings"] = best->run->settings;
  result["run"] = best->summary;
  return result;
}

// Finished runs by group and row: of every row that is shown, if only an empty list.
using RunsByRow = std::map<std::pair<size_t, size_t>, std::vector<FinishedRun>>;

json Group(const ExperimentGroup& group, size_t index, const RunsByRow& finished) {
  const json& values = group.rows[0].values;
  json result = {{"name", group.name},
                 {"title", group.title},
                 {"note", group.note},
                 {"task", values.at("task").at("name")},
                 {"train_lengths", values.at("task").at("train_lengths")},
                 {"chance", nullptr},
                 {"rows", json::array()}};
  for (const auto& [place, runs] : finished) {
    if (place.first != index) continue;
    const json row = Row(group.rows[place.second], runs);
    if (!row["run"].is_null()) result["chance"] = row["run"]["chance"];
    result["rows"].push_back(row);
  }
  return result;
}

}  // namespace

json BuildResults(const Plan& plan, const QueueState& state, const std::filesystem::path& out) {
  const Experiment& experiment = *plan.experiment;
  std::vector<PlannedRun> others = state.OthersDone();
  std::erase_if(others, [&out](const PlannedRun& run) { return !RunDirectory::IsRun(RunPath(out, run)); });
  RunsByRow finished;
  json failures = json::array();
  size_t done = 0;
  const auto finish = [&](const PlannedRun& run) {
    ++done;
    const std::filesystem::path path = RunPath(out, run);
    finished[{run.group, run.row}].push_back(
        {&run, ReadScore(path, experiment.score, experiment.shortest, experiment.longest), SummariseRun(path)});
  };
  for (size_t i = 0; i < plan.runs.size(); ++i) {
    const PlannedRun& run = plan.runs[i];
    finished[{run.group, run.row}];
    if (state[i].state == RunState::kFailed) {
      failures.push_back(
          {{"run", run.id}, {"message", state[i].message}, {"log", LogPath(out, run).lexically_normal().string()}});
    }
    if (state[i].state == RunState::kDone) finish(run);
  }
  for (const PlannedRun& run : others) finish(run);
  json groups = json::array();
  for (size_t g = 0; g < experiment.groups.size(); ++g) {
    json group = Group(experiment.groups[g], g, finished);
    if (!group["rows"].empty()) groups.push_back(group);
  }
  return {{"format", "lrnn.experiment"},
          {"version", 1},
          {"name", experiment.name},
          {"title", experiment.title},
          {"summary", experiment.summary},
          {"budget", plan.budget},
          {"paper", experiment.paper},
          {"score", experiment.score},
          {"lengths", {experiment.shortest, experiment.longest}},
          {"lrnn_version", kVersion},
          {"commands", {fmt::format("lrnn reproduce {} --budget {}", experiment.name, plan.budget)}},
          {"runs", {{"planned", plan.runs.size() + others.size()}, {"done", done}, {"failed", failures.size()}}},
          {"failures", failures},
          {"groups", groups}};
}

}  // namespace lrnn
