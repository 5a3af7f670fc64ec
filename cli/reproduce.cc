// lrnn reproduce: an experiment of the paper, from training to the page.
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdlib>

#include "cli/commands.h"
#include "lrnn/base/error.h"
#include "lrnn/base/hardware.h"
#include "lrnn/experiments/directory_lock.h"
#include "lrnn/experiments/experiment_table.h"
#include "lrnn/experiments/plan.h"
#include "lrnn/experiments/results.h"
#include "lrnn/experiments/results_csv.h"
#include "lrnn/experiments/runner.h"
#include "lrnn/io/atomic_file.h"
#include "lrnn/io/json_file.h"
#include "lrnn/report/html_page.h"

namespace lrnn::cli {
namespace {

struct Options {
  std::string experiment;
  PlanOptions plan;
  std::string out = "runs/reproduce";
  std::string files;
  int jobs = 0;
  bool shows_plan = false;
  bool retries = false;
};

std::atomic<bool> stop_requested = false;

// The first signal asks to save and end; a second one ends the program at once.
void RequestStop(int signal) {
  stop_requested = true;
  std::signal(signal, SIG_DFL);
}

// --files, or the environment, or what is inside the program.
ExperimentFiles Files(const Options& options) {
  if (!options.files.empty()) return ExperimentFiles(options.files);
  const char* const directory = std::getenv("LRNN_EXPERIMENTS");
  return directory && *directory ? ExperimentFiles(std::filesystem::path(directory)) : ExperimentFiles();
}

// "all" is what the paper has, "beyond" what it has not.
std::vector<std::string> Names(const Options& options, const ExperimentFiles& files) {
  if (options.experiment == "all") return files.TomlNames("configs/paper");
  if (options.experiment == "beyond") return files.TomlNames("configs/beyond");
  return {options.experiment};
}

void PrintPlan(const Plan& plan, const std::filesystem::path& out) {
  fmt::print("{}, {}: {} runs\n", plan.experiment->name, plan.budget, plan.runs.size());
  for (const PlannedRun& run : plan.runs) {
    for (const auto& command : RunCommands(plan, run, out)) fmt::print("  lrnn {}\n", fmt::join(command, " "));
  }
}

nlohmann::json WriteReport(const Plan& plan, const QueueState& state, const std::filesystem::path& out) {
  const nlohmann::json results = BuildResults(plan, state, out);
  WriteJson(out / "report.json", results);
  WriteFileAtomically(out / "runs.csv", RunsCsv(results));
  WriteFileAtomically(out / "curves.csv", CurvesCsv(results));
  WriteFileAtomically(out / "report.html", RenderPage(results["title"], RenderExperimentTable(results), results));
  return results;
}

// After each run; what is wrong with it is said at the end, and must not stop the others.
void TryWriteReport(const Plan& plan, const QueueState& state, const std::filesystem::path& out) {
  try {
    WriteReport(plan, state, out);
  } catch (const Error&) {
  }
}

// Gives the number of runs that failed.
size_t Reproduce(const Experiment& experiment, const Options& options) {
  const int cores = CpuCount();
  PlanOptions plan_options = options.plan;
  const auto count = static_cast<int>(MakePlan(experiment, plan_options).runs.size());
  const int jobs = std::min(options.jobs > 0 ? options.jobs : cores, count);
  // Small models train faster with a process to a core than with several cores to a process.
  plan_options.threads = std::max(1, cores / jobs);
  const Plan plan = MakePlan(experiment, plan_options);
  const std::filesystem::path out = std::filesystem::path(options.out) / (experiment.name + "-" + plan.budget);
  if (options.shows_plan) {
    PrintPlan(plan, out);
    return 0;
  }

  std::filesystem::create_directories(out);
  const DirectoryLock lock(out);
  QueueState state(out, plan);
  const QueueEnd end = RunQueue(plan, state,
                                {.program = std::filesystem::read_symlink("/proc/self/exe"),
                                 .out = out,
                                 .jobs = jobs,
                                 .retries_failed = options.retries,
                                 .progress = stderr,
                                 .stop = &stop_requested,
                                 .finished = [&] { TryWriteReport(plan, state, out); }});
  if (end == QueueEnd::kInterrupted) {
    throw Failure(fmt::format("interrupted; saved in {}. The same command goes on", out.string()));
  }
  const nlohmann::json results = WriteReport(plan, state, out);
  fmt::print("{}\n{}: open it in a browser\n\n", RenderExperimentTable(results), (out / "report.html").string());
  for (const nlohmann::json& failure : results["failures"]) {
    fmt::print(stderr, "lrnn: {} failed: {} (log: {})\n", failure["run"].get<std::string>(),
               failure["message"].get<std::string>(), failure["log"].get<std::string>());
  }
  return results["failures"].size();
}

void RunReproduce(const Options& options) {
  const ExperimentFiles files = Files(options);
  std::signal(SIGINT, RequestStop);
  std::signal(SIGTERM, RequestStop);
  size_t failed = 0;
  for (const std::string& name : Names(options, files)) failed += Reproduce(ReadExperiment(files, name), options);
  if (failed > 0) throw Failure(fmt::format("{} {} failed; --retry tries again", failed, failed == 1 ? "run" : "runs"));
}

}  // namespace

void AddReproduce(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("reproduce", "an experiment of the paper: train, evaluate, report");
  command->footer(
      "Interrupted anywhere, the same command goes on where it was. The results stand in OUT/EXPERIMENT-BUDGET:\n"
      "report.html (one self-contained page), report.json, runs.csv, curves.csv, and the runs themselves.\n\n"
      "  lrnn reproduce fig1                        Figure 1: parity with a diagonal linear RNN\n"
      "  lrnn reproduce table3 --budget full        Tables 3 and 5, Figures 2 and 5: formal languages\n"
      "  lrnn reproduce fig3 --only swaps           Figure 3: word problems of S5, one of the set-ups\n"
      "  lrnn reproduce fig6 --plan                 Figure 6: addition modulo 60; what would be run");
  command->add_option("EXPERIMENT", options->experiment, "fig1, table3, fig3, fig6, all, or beyond")->required();
  command
      ->add_option("--budget", options->plan.budget,
                   "smoke (seconds), short (about two hours on two cores), full (the paper's steps, seeds and grid)")
      ->capture_default_str();
  command->add_option("--out", options->out, "where to work")->capture_default_str();
  command->add_option("--only", options->plan.only, "only the rows whose GROUP/LABEL contains this");
  command->add_option("--seeds", options->plan.seeds, "instead of the budget's: 1,2,3")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::NonNegativeNumber);
  command->add_option("--learning-rates", options->plan.learning_rates, "instead of the budget's: 1e-3,1e-4")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::PositiveNumber);
  command->add_option("--jobs", options->jobs, "runs at a time; default: one for each core")
      ->check(CLI::PositiveNumber);
  command->add_option("--files", options->files,
                      "a directory with configs/ and data/ instead of those inside the program (or LRNN_EXPERIMENTS)");
  command->add_flag("--plan", options->shows_plan, "print the commands and run nothing");
  command->add_flag("--retry", options->retries, "try runs again that failed before");
  command->callback([options] { RunReproduce(*options); });
}

}  // namespace lrnn::cli
