// lrnn eval: accuracy by length, and the horizon.
#include <fmt/core.h>

#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/eval_automaton.h"
#include "cli/models.h"
#include "lrnn/base/error.h"
#include "lrnn/base/hardware.h"
#include "lrnn/ops/threads.h"
#include "lrnn/runtime/automaton_files.h"
#include "lrnn/train/eval_file.h"
#include "lrnn/train/evaluate.h"
#include "lrnn/train/horizon.h"
#include "lrnn/train/trainer.h"

namespace lrnn::cli {
namespace {

struct Options {
  std::string model;
  std::string task;
  std::vector<std::string> parameters;
  std::string lengths;
  int64_t sequences = 8192;
  int64_t seed = -1;
  std::string precision = "fp32";
  bool horizon = false;
  int64_t max_length = 1'000'000;
  int64_t streams = 32;
  int threads = 0;
  bool json = false;
};

EvaluatedTask Identity(const Task& task, const nlohmann::json& parameters) {
  return {task.name(), parameters, task.chance(), task.score()};
}

// A run's own test set by default: never seen in training or validation.
uint64_t Seed(const Options& options, const LoadedModel& loaded) {
  if (options.seed >= 0) return static_cast<uint64_t>(options.seed);
  return TestDataSeed(loaded.run_config ? loaded.run_config->seed : 0);
}

Precision ParsePrecision(const std::string& name) {
  if (const auto precision = PrecisionNamed(name)) return *precision;
  Fail("--precision: expected fp32 or bf16, got \"{}\"", name);
}

// The curve at lengths that double.
void PrintCurve(const Evaluation& evaluation) {
  const auto& curve = evaluation.by_position;
  fmt::print("{:>9} {:>18} {:>10}\n", "length", "sequence accuracy", "sequences");
  int64_t next = 1;
  for (size_t i = 0; i < curve.size(); ++i) {
    if (curve[i].length < next && i + 1 < curve.size()) continue;
    fmt::print("{:>9} {:>18.4f} {:>10}\n", curve[i].length,
               static_cast<double>(curve[i].correct) / static_cast<double>(curve[i].sequences), curve[i].sequences);
    while (next <= curve[i].length) next *= 2;
  }
}

void RunLengths(const Options& options, LoadedModel& loaded) {
  EvaluateOptions evaluate{.sequences = options.sequences,
                           .seed = Seed(options, loaded),
                           .progress = options.json ? nullptr : stderr,
                           .precision = ParsePrecision(options.precision)};
  if (loaded.run_config) evaluate.lengths = loaded.run_config->eval_lengths;
  if (!options.lengths.empty()) {
    const Lengths lengths = ParseLengths(options.lengths);
    evaluate.lengths = {lengths.min, lengths.max};
  }
  evaluate.label = fmt::format("eval {}:{}", evaluate.lengths.min, evaluate.lengths.max);
  const Evaluation evaluation = Evaluate(loaded.model, *loaded.task, evaluate);
  const nlohmann::json result = ToJson(evaluation);
  if (loaded.run) {
    KeepEvaluation(loaded.run->eval_path(), Identity(*loaded.run_config->task, loaded.own_parameters),
                   Identity(*loaded.task, loaded.parameters), result);
  }
  if (options.json) {
    fmt::print("{}\n", result.dump());
    return;
  }
  const bool by_sequence = evaluation.score == Score::kSequence;
  fmt::print("{}: {}, lengths {}:{}: {} {:.3f} (95 % interval {:.3f} to {:.3f}, {} sequences, {} tokens{})\n",
             options.model, loaded.task->name(), evaluate.lengths.min, evaluate.lengths.max,
             by_sequence ? "sequence accuracy" : "scaled accuracy", evaluation.scaled_accuracy(),
             result.at("low").get<double>(), result.at("high").get<double>(), options.sequences, evaluation.tokens,
             evaluate.precision == Precision::kBfloat16 ? ", bf16" : "");
  if (by_sequence) PrintCurve(evaluation);
}

void RunHorizon(const Options& options, LoadedModel& loaded) {
  const Horizon horizon = MeasureHorizon(loaded.model, *loaded.task,
                                         {.max_length = options.max_length,
                                          .from = loaded.run_config ? loaded.run_config->train_lengths.min : 0,
                                          .streams = options.streams,
                                          .seed = Seed(options, loaded),
                                          .precision = ParsePrecision(options.precision),
                                          .progress = options.json ? nullptr : stderr});
  const nlohmann::json result = ToJson(horizon);
  if (loaded.run) {
    KeepHorizon(loaded.run->eval_path(), Identity(*loaded.run_config->task, loaded.own_parameters),
                Identity(*loaded.task, loaded.parameters), result);
  }
  if (options.json) {
    fmt::print("{}\n", result.dump());
    return;
  }
  const std::string how =
      fmt::format("{} {}, {} tokens{}", options.streams, options.streams == 1 ? "stream" : "streams", horizon.tokens,
                  options.precision == "bf16" ? ", bf16" : "");
  if (!horizon.has_ended) {
    fmt::print("{}: {}: accuracy stays at {} or more up to length {}, where the test ends ({})\n", options.model,
               loaded.task->name(), horizon.options.accuracy, horizon.length, how);
  } else if (horizon.length == 0) {
    fmt::print("{}: {}: accuracy is below {} from the start, length {} ({})\n", options.model, loaded.task->name(),
               horizon.options.accuracy, horizon.from, how);
  } else {
    fmt::print("{}: {}: accuracy stays at {} or more up to length {} ({})\n", options.model, loaded.task->name(),
               horizon.options.accuracy, horizon.length, how);
  }
  fmt::print("{:>9} {:>9}\n", "length", "accuracy");
  int64_t next = 1;
  for (size_t i = 0; i < horizon.checkpoints.size(); ++i) {
    const HorizonPoint& point = horizon.checkpoints[i];
    if (point.length < next && i + 1 < horizon.checkpoints.size()) continue;
    fmt::print("{:>9} {:>9.4f}\n", point.length, point.accuracy);
    while (next <= point.length) next *= 2;
  }
}

void RunEval(const Options& options) {
  if (const auto path = ModelPath(options.model); IsAutomaton(ModelDirectory::Open(path))) {
    LRNN_CHECK(!options.horizon, "--horizon: {} is a compiled automaton: lrnn certify says how far it is right",
               options.model);
    return EvalAutomaton({path, options.task, options.parameters, options.lengths, options.sequences,
                          static_cast<uint64_t>(std::max<int64_t>(options.seed, 0)), options.json});
  }
  ops::UseThreads(options.threads > 0 ? options.threads : CpuCount());
  LoadedModel loaded = LoadWithTask(options.model, options.task, options.parameters);
  if (options.horizon) {
    RunHorizon(options, loaded);
  } else {
    RunLengths(options, loaded);
  }
}

}  // namespace

void AddEval(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("eval", "accuracy of a model by length, and the length up to which it is right");
  command->footer(
      "Sequences are streamed: length 1000000 needs no more memory than length 256. The result of a run is kept in its "
      "eval.json.\n\n"
      "  lrnn eval runs/mine\n"
      "  lrnn eval runs/mine --lengths 100000 --sequences 64\n"
      "  lrnn eval runs/mine --task group --set group=S5 --set max_moved=2 --lengths 500\n"
      "  lrnn eval runs/mine --horizon");
  command->add_option("MODEL", options->model, "a run, or a model directory")->required();
  command->add_option("--task", options->task, "default: what the model was trained for");
  command->add_option("--set", options->parameters, "a parameter of the task: PARAMETER=VALUE (repeatable)");
  auto* lengths = command->add_option("--lengths", options->lengths,
                                      "SHORTEST:LONGEST, the answer counted; default: the run's, or 40:256");
  auto* sequences = command->add_option("--sequences", options->sequences, "how many, of lengths drawn uniformly")
                        ->capture_default_str()
                        ->check(CLI::PositiveNumber);
  command->add_option("--seed", options->seed, "names the data set; default: the run's test set");
  command
      ->add_option("--precision", options->precision, "of linear layers: fp32, or bf16 as torch's autocast rounds them")
      ->capture_default_str();
  auto* horizon = command->add_flag("--horizon", options->horizon,
                                    "instead: the longest length at which the accuracy stays at 0.99 or more");
  horizon->excludes(lengths)->excludes(sequences);
  command->add_option("--max-length", options->max_length, "how far to look for the horizon")
      ->capture_default_str()
      ->check(CLI::PositiveNumber)
      ->needs(horizon);
  command->add_option("--streams", options->streams, "sequences to look for the horizon with, side by side")
      ->capture_default_str()
      ->check(CLI::PositiveNumber)
      ->needs(horizon);
  command->add_option("--threads", options->threads, "default: all cores");
  command->add_flag("--json", options->json, "print the result as JSON, with counts by length; no progress bar");
  command->callback([options] { RunEval(*options); });
}

}  // namespace lrnn::cli
