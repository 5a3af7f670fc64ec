#include "lrnn/experiments/queue_state.h"

#include <fmt/format.h>

#include <map>

#include "lrnn/base/error.h"
#include "lrnn/io/fields.h"
#include "lrnn/io/json_file.h"
#include "lrnn/report/field_checks.h"

namespace lrnn {
namespace {

using nlohmann::json;

const std::map<RunState, std::string> kNames = {
    {RunState::kWaiting, "waiting"}, {RunState::kDone, "done"}, {RunState::kFailed, "failed"}};

RunRecord ReadRecord(const Fields& fields) {
  RunRecord record;
  const std::string state = fields.String("state");
  bool is_known = false;
  for (const auto& [value, name] : kNames) {
    if (name != state) continue;
    record.state = value;
    is_known = true;
  }
  if (!is_known) fields.Refuse("state", "waiting, done or failed");
  record.stages_done = static_cast<int>(NonNegativeInt(fields, "stages_done"));
  record.seconds = NonNegative(fields, "seconds");
  record.message = fields.String("message", "");
  return record;
}

// The number of threads changes how fast a run is, not what it is.
json WithoutThreads(json settings) {
  settings.erase("train.threads");
  return settings;
}

json ToJson(const PlannedRun& run, const RunRecord& record) {
  return {{"settings", WithoutThreads(run.settings)},
          {"state", kNames.at(record.state)},
          {"stages_done", record.stages_done},
          {"seconds", record.seconds},
          {"message", record.message}};
}

}  // namespace

QueueState::QueueState(const std::filesystem::path& directory, const Plan& plan)
    : path_(directory / "state.json"), plan_(plan), records_(plan.runs.size()), others_(json::object()) {
  if (std::filesystem::exists(path_)) {
    const Fields file(ReadJson(path_), path_.string());
    CheckFormat(file, "lrnn.reproduce", 1);
    LRNN_CHECK(file.String("experiment") == plan.experiment->name && file.String("budget") == plan.budget,
               "{}: is of {} with budget {}; choose another --out", path_.string(), file.String("experiment"),
               file.String("budget"));
    others_ = file.Object("runs").json();
    for (size_t i = 0; i < plan.runs.size(); ++i) {
      const PlannedRun& run = plan.runs[i];
      if (!others_.contains(run.id)) continue;
      const Fields record(others_.at(run.id), fmt::format("{}: {}", path_.string(), run.id));
      LRNN_CHECK(record.Object("settings").json() == WithoutThreads(run.settings),
                 "{}: {} was started with other settings; choose another --out", path_.string(), run.id);
      records_[i] = ReadRecord(record);
    }
    for (const PlannedRun& run : plan.runs) others_.erase(run.id);
  }
  Write();
}

std::vector<PlannedRun> QueueState::OthersDone() const {
  std::vector<PlannedRun> done;
  for (const auto& [id, value] : others_.items()) {
    const Fields record(value, fmt::format("{}: {}", path_.string(), id));
    if (ReadRecord(record).state != RunState::kDone) continue;
    const Fields settings = record.Object("settings");
    const Plan all = MakePlan(*plan_.experiment, {.budget = plan_.budget,
                                                  .seeds = {settings.Int("train.seed")},
                                                  .learning_rates = {settings.Double("train.learning_rate")},
                                                  .threads = plan_.threads});
    for (const PlannedRun& run : all.runs) {
      if (run.id == id && WithoutThreads(run.settings) == settings.json()) done.push_back(run);
    }
  }
  return done;
}

void QueueState::Set(size_t run, const RunRecord& record) {
  records_.at(run) = record;
  Write();
}

void QueueState::Write() const {
  json runs = others_;
  for (size_t i = 0; i < records_.size(); ++i) runs[plan_.runs[i].id] = ToJson(plan_.runs[i], records_[i]);
  WriteJson(path_, {{"format", "lrnn.reproduce"},
                    {"version", 1},
                    {"experiment", plan_.experiment->name},
                    {"budget", plan_.budget},
                    {"runs", runs}});
}

}  // namespace lrnn
