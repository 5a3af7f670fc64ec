// lrnn train: a run from a configuration.
#include <fmt/core.h>

#include <atomic>
#include <csignal>

#include "cli/commands.h"
#include "lrnn/base/error.h"
#include "lrnn/io/metrics_log.h"
#include "lrnn/io/run_directory.h"
#include "lrnn/train/trainer.h"

namespace lrnn::cli {
namespace {

struct Options {
  std::string config;
  std::vector<std::string> overrides;
  std::string out;
  bool resume = false;
  bool quiet = false;
};

std::atomic<bool> stop_requested = false;

// The first signal asks the run to save and end; a second one ends the program at once.
void RequestStop(int signal) {
  stop_requested = true;
  std::signal(signal, SIG_DFL);
}

// runs/<name of the configuration file>
std::filesystem::path DefaultRun(const std::filesystem::path& config) {
  return std::filesystem::path("runs") / config.stem();
}

void PrintResult(const TrainConfig& config, const RunDirectory& run) {
  const auto metrics = ReadMetrics(run.metrics_path());
  for (auto line = metrics.rbegin(); line != metrics.rend(); ++line) {
    if (line->value("kind", "") != "eval") continue;
    fmt::print("{}: {} steps; scaled accuracy {:.3f} over lengths {}:{} ({} sequences)\n", run.path().string(),
               line->at("step").get<int64_t>(), line->at("scaled_accuracy").get<double>(), config.eval_lengths.min,
               config.eval_lengths.max, line->at("sequences").get<int64_t>());
    return;
  }
}

void RunTrain(const Options& options) {
  const std::filesystem::path path =
      options.out.empty() ? DefaultRun(options.config) : std::filesystem::path(options.out);
  const bool goes_on = options.resume && RunDirectory::IsRun(path);
  // A run that goes on follows the configuration it was started with.
  LRNN_CHECK(!goes_on || options.overrides.empty(), "--set: a run that is resumed keeps its configuration, {}",
             (path / "config.toml").string());
  const TrainConfig config =
      ReadTrainConfig(goes_on ? path / "config.toml" : std::filesystem::path(options.config), options.overrides);
  const RunDirectory run = goes_on ? RunDirectory::Open(path) : RunDirectory::Create(path, config.text);

  std::signal(SIGINT, RequestStop);
  std::signal(SIGTERM, RequestStop);
  const TrainEnd end = Train(config, run, {.progress = options.quiet ? nullptr : stderr, .stop = &stop_requested});
  if (end == TrainEnd::kInterrupted) {
    throw Failure(
        fmt::format("interrupted; saved. Go on with: lrnn train {} --out {} --resume", options.config, path.string()));
  }
  PrintResult(config, run);
}

}  // namespace

void AddTrain(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("train", "train a model as a TOML file says");
  command->footer(
      "A run directory holds config.toml, metrics.jsonl, checkpoints/ and results. Ctrl-C saves before it ends.\n\n"
      "  lrnn train configs/demo/delta_net_extended.toml --out runs/mine\n"
      "  lrnn train configs/demo/delta_net_extended.toml --out runs/mine --resume\n"
      "  lrnn train configs/demo/delta_net_extended.toml --set train.seed=1 --set train.steps=100 --out runs/short");
  command->add_option("CONFIG", options->config, "the configuration, a TOML file")->required();
  command->add_option("--set", options->overrides, "change one value of it: section.key=value (repeatable)");
  command->add_option("--out", options->out, "the run directory; default runs/<name of CONFIG>");
  command->add_flag("--resume", options->resume,
                    "go on with the run if it is there; a run that is complete is left as it is");
  command->add_flag("--quiet", options->quiet, "no progress bar");
  command->callback([options] { RunTrain(*options); });
}

}  // namespace lrnn::cli
