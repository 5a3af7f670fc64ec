#include "lrnn/experiments/runner.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <list>
#include <map>
#include <thread>

#include "lrnn/base/error.h"
#include "lrnn/base/progress.h"
#include "lrnn/base/timer.h"
#include "lrnn/experiments/child_process.h"
#include "lrnn/experiments/live_table.h"
#include "lrnn/experiments/run_progress.h"
#include "lrnn/io/atomic_file.h"
#include "lrnn/io/run_directory.h"

namespace lrnn {
namespace {

struct ActiveRun {
  size_t index;
  int stage;
  Timer timer;  // of this stage
  ChildProcess process;
};

class Runner {
 public:
  Runner(const Plan& plan, QueueState& state, const RunnerOptions& options)
      : plan_(plan), state_(state), options_(options), table_({.out = options.progress}) {}

  QueueEnd Run() {
    for (const PlannedRun& run : plan_.runs) WriteConfig(run);
    std::filesystem::create_directories(options_.out / "runs");
    std::filesystem::create_directories(options_.out / "logs");
    for (size_t i = 0; i < plan_.runs.size(); ++i) {
      const RunRecord& record = state_[i];
      const bool is_again = options_.retries_failed && record.state == RunState::kFailed;
      if (is_again) state_.Set(i, {RunState::kWaiting, record.stages_done, record.seconds, ""});
      if (state_[i].state == RunState::kWaiting) waiting_.push_back(i);
    }
    while (!waiting_.empty() || !active_.empty()) {
      if (options_.stop && *options_.stop) {
        Stop();
        return QueueEnd::kInterrupted;
      }
      while (!waiting_.empty() && active_.size() < static_cast<size_t>(options_.jobs)) {
        const size_t index = waiting_.front();
        waiting_.pop_front();
        Start(index);
      }
      Reap();
      table_.Show(Lines());
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return QueueEnd::kComplete;
  }

 private:
  void WriteConfig(const PlannedRun& run) {
    const ExperimentRow& row = plan_.experiment->groups[run.group].rows[run.row];
    const std::filesystem::path path = options_.out / row.config;
    if (std::filesystem::exists(path) && ReadFile(path) == row.config_text) return;
    std::filesystem::create_directories(path.parent_path());
    WriteFileAtomically(path, row.config_text);
  }

  // The next command of the run.
  void Start(size_t index) {
    const PlannedRun& run = plan_.runs[index];
    const int stage = state_[index].stages_done;
    const auto commands = RunCommands(plan_, run, options_.out);
    std::vector<std::string> arguments = {options_.program.string()};
    arguments.insert(arguments.end(), commands[stage].begin(), commands[stage].end());
    // A process killed while it made the directory may have left a part of it.
    if (stage == 0 && !RunDirectory::IsRun(RunPath(options_.out, run))) {
      std::filesystem::remove_all(RunPath(options_.out, run));
    }
    if (stage == 0) table_.Say(fmt::format("start   {}", run.id));
    active_.push_back({index, stage, Timer(), ChildProcess(arguments, LogPath(options_.out, run))});
  }

  void Reap() {
    for (auto active = active_.begin(); active != active_.end();) {
      const std::optional<int> code = active->process.Poll();
      if (!code) {
        ++active;
        continue;
      }
      const size_t index = active->index;
      RunRecord record = state_[index];
      record.seconds += active->timer.Seconds();
      active = active_.erase(active);
      if (*code == 0) {
        ++record.stages_done;
        const bool is_done = record.stages_done == StageCount(index);
        record.state = is_done ? RunState::kDone : RunState::kWaiting;
        state_.Set(index, record);
        if (is_done) {
          End(fmt::format("done    {}  {}", plan_.runs[index].id, FormatSeconds(record.seconds)));
        } else {
          Start(index);
        }
      } else {
        const std::filesystem::path log = LogPath(options_.out, plan_.runs[index]);
        record.state = RunState::kFailed;
        record.message = LastLine(log);
        if (record.message.empty()) record.message = fmt::format("exit code {}", *code);
        state_.Set(index, record);
        End(fmt::format("FAILED  {}  {}  (log: {})", plan_.runs[index].id, record.message, log.string()));
      }
    }
  }

  void End(const std::string& line) {
    table_.Say(line);
    if (options_.finished) options_.finished();
  }

  int StageCount(size_t index) const {
    return static_cast<int>(RunCommands(plan_, plan_.runs[index], options_.out).size());
  }

  // Training saves when it is asked to end; whatever takes too long is killed, which loses only the last steps.
  void Stop() {
    for (ActiveRun& active : active_) active.process.Signal(SIGTERM);
    const Timer timer;
    const auto runs = [](ActiveRun& active) { return !active.process.Poll(); };
    while (timer.Seconds() < 30 && std::any_of(active_.begin(), active_.end(), runs)) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    for (const ActiveRun& active : active_) {
      RunRecord record = state_[active.index];
      record.seconds += active.timer.Seconds();
      state_.Set(active.index, record);
    }
    active_.clear();
  }

  std::vector<std::string> Lines() {
    std::vector<RunShare> shares;
    size_t done = 0, failed = 0;
    for (size_t i = 0; i < plan_.runs.size(); ++i) {
      const PlannedRun& run = plan_.runs[i];
      const RunRecord& record = state_[i];
      const bool has_ended = record.state != RunState::kWaiting;
      done += record.state == RunState::kDone;
      failed += record.state == RunState::kFailed;
      shares.push_back({run.group * 1000 + run.row, run.work, has_ended ? 1.0 : 0.0, record.seconds});
    }
    std::vector<std::string> lines = {""};
    for (const ActiveRun& active : active_) {
      const PlannedRun& run = plan_.runs[active.index];
      const RunProgress progress = ReadRunProgress(RunPath(options_.out, run) / "metrics.jsonl");
      const double share = static_cast<double>(progress.step) / static_cast<double>(run.steps);
      shares[active.index].done = active.stage == 0 ? share : 1.0;
      shares[active.index].spent = progress.seconds;
      std::string detail = active.stage == 0 ? fmt::format("step {} of {}", progress.step, run.steps) : "evaluating";
      if (active.stage == 0 && progress.step > 0) {
        detail += fmt::format("  loss {:.3g}  at most {} to go", progress.loss,
                              FormatSeconds(progress.seconds * (1 - share) / share));
      }
      lines.push_back(fmt::format("  {} {:<44} {}", BarText(active.stage == 0 ? share : 1.0, 12), run.id, detail));
    }
    const std::optional<double> left = RemainingSeconds(shares, options_.jobs);
    lines[0] =
        fmt::format("{}, {}: {} of {} runs done{}, {} at work, {} gone{}", plan_.experiment->name, plan_.budget, done,
                    plan_.runs.size(), failed > 0 ? fmt::format(", {} failed", failed) : "", active_.size(),
                    FormatSeconds(timer_.Seconds()), left ? fmt::format(", about {} to go", FormatSeconds(*left)) : "");
    return lines;
  }

  const Plan& plan_;
  QueueState& state_;
  const RunnerOptions& options_;
  LiveTable table_;
  Timer timer_;
  std::list<size_t> waiting_;
  std::list<ActiveRun> active_;
};

}  // namespace

std::filesystem::path RunPath(const std::filesystem::path& out, const PlannedRun& run) { return out / "runs" / run.id; }

std::filesystem::path LogPath(const std::filesystem::path& out, const PlannedRun& run) {
  return out / "logs" / (run.id + ".log");
}

std::vector<std::vector<std::string>> RunCommands(const Plan& plan, const PlannedRun& run,
                                                  const std::filesystem::path& out) {
  const ExperimentRow& row = plan.experiment->groups[run.group].rows[run.row];
  const std::string directory = RunPath(out, run).string();
  std::vector<std::vector<std::string>> commands = {{"train", (out / row.config).string(), "--out", directory}};
  if (RunDirectory::IsRun(directory)) {
    commands[0].push_back("--resume");  // with the settings it was started with
  } else {
    for (const std::string& assignment : Assignments(run.settings)) {
      commands[0].push_back("--set");
      commands[0].push_back(assignment);
    }
  }
  commands[0].push_back("--quiet");
  for (const EvaluationPlan& evaluation : run.evaluations) {
    commands.push_back({"eval", directory, "--lengths", fmt::format("{}:{}", evaluation.shortest, evaluation.longest),
                        "--sequences", std::to_string(evaluation.sequences), "--threads", std::to_string(plan.threads),
                        "--precision", evaluation.precision, "--json"});
  }
  if (run.horizon > 0) {
    // Every position of a stream is judged: 8 are enough, and a quarter of the time of the default.
    commands.push_back({"eval", directory, "--horizon", "--streams", "8", "--max-length", std::to_string(run.horizon),
                        "--threads", std::to_string(plan.threads), "--json"});
  }
  if (run.has_spectrum) commands.push_back({"analyze", directory, "--spectrum"});
  return commands;
}

std::optional<double> RemainingSeconds(const std::vector<RunShare>& runs, int jobs) {
  // Seconds per unit of work, of each kind and of all.
  std::map<size_t, std::pair<double, double>> kinds;  // spent, done
  double spent = 0, done = 0;
  for (const RunShare& run : runs) {
    if (!(run.spent > 0) || !(run.done > 0)) continue;
    kinds[run.kind].first += run.spent;
    kinds[run.kind].second += run.done * run.work;
    spent += run.spent;
    done += run.done * run.work;
  }
  if (!(done > 0)) return {};
  double seconds = 0;
  for (const RunShare& run : runs) {
    const auto kind = kinds.find(run.kind);
    const double rate = kind != kinds.end() ? kind->second.first / kind->second.second : spent / done;
    seconds += rate * run.work * (1 - run.done);
  }
  return seconds / jobs;
}

QueueEnd RunQueue(const Plan& plan, QueueState& state, const RunnerOptions& options) {
  return Runner(plan, state, options).Run();
}

}  // namespace lrnn
