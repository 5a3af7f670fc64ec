// lrnn eval: accuracy by length.
#include <ATen/Parallel.h>
#include <fmt/core.h>

#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/models.h"
#include "lrnn/base/error.h"
#include "lrnn/base/hardware.h"
#include "lrnn/io/json_file.h"
#include "lrnn/train/evaluate.h"
#include "lrnn/train/trainer.h"

namespace lrnn::cli {
namespace {

struct Options {
  std::string model;
  std::string task;
  std::string lengths;
  int64_t sequences = 8192;
  int64_t seed = -1;
  int threads = 0;
  bool json = false;
};

// Adds the result to the run's eval.json, in place of an earlier one of the same lengths.
void KeepResult(const RunDirectory& run, const Task& task, const nlohmann::json& result) {
  nlohmann::json all = {{"format", "lrnn.eval"}, {"version", 1}, {"task", task.name()}, {"chance", task.chance()}};
  all["evaluations"] = nlohmann::json::array();
  if (std::filesystem::exists(run.eval_path())) {
    const nlohmann::json before = ReadJson(run.eval_path());
    if (before.value("task", "") == task.name()) {
      for (const auto& other : before.at("evaluations")) {
        if (other.at("lengths") != result.at("lengths")) all["evaluations"].push_back(other);
      }
    }
  }
  all["evaluations"].push_back(result);
  WriteJson(run.eval_path(), all);
}

void RunEval(const Options& options) {
  at::set_num_threads(options.threads > 0 ? options.threads : CpuCount());
  LoadedModel loaded = LoadWithTask(options.model, options.task);
  EvaluateOptions evaluate{.sequences = options.sequences, .progress = options.json ? nullptr : stderr};
  if (loaded.run_config) evaluate.lengths = loaded.run_config->eval_lengths;
  if (!options.lengths.empty()) {
    const Lengths lengths = ParseLengths(options.lengths);
    evaluate.lengths = {lengths.min, lengths.max};
  }
  // A run's own test set by default: never seen in training or validation.
  evaluate.seed = options.seed >= 0 ? static_cast<uint64_t>(options.seed)
                                    : TestDataSeed(loaded.run_config ? loaded.run_config->seed : 0);
  evaluate.label = fmt::format("eval {}:{}", evaluate.lengths.min, evaluate.lengths.max);
  const Evaluation evaluation = Evaluate(loaded.model, *loaded.task, evaluate);
  const nlohmann::json result = ToJson(evaluation);
  if (loaded.run) KeepResult(*loaded.run, *loaded.task, result);
  if (options.json) {
    fmt::print("{}\n", result.dump());
  } else {
    fmt::print(
        "{}: {}, lengths {}:{}: scaled accuracy {:.3f} (95 % interval {:.3f} to {:.3f}, {} sequences, {} tokens)\n",
        options.model, loaded.task->name(), evaluate.lengths.min, evaluate.lengths.max, evaluation.scaled_accuracy(),
        result.at("low").get<double>(), result.at("high").get<double>(), options.sequences, evaluation.tokens);
  }
}

}  // namespace

void AddEval(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("eval", "accuracy of a model by length");
  command->footer(
      "Sequences are streamed: length 1000000 needs no more memory than length 256. The result of a run is kept in its "
      "eval.json.\n\n"
      "  lrnn eval runs/mine\n"
      "  lrnn eval runs/mine --lengths 100000 --sequences 64");
  command->add_option("MODEL", options->model, "a run, or a model directory")->required();
  command->add_option("--task", options->task, "default: what the model was trained for");
  command->add_option("--lengths", options->lengths,
                      "SHORTEST:LONGEST, the answer counted; default: the run's, or 40:256");
  command->add_option("--sequences", options->sequences, "how many, of lengths drawn uniformly")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  command->add_option("--seed", options->seed, "names the data set; default: the run's test set");
  command->add_option("--threads", options->threads, "default: all cores");
  command->add_flag("--json", options->json, "print the result as JSON, with counts by length; no progress bar");
  command->callback([options] { RunEval(*options); });
}

}  // namespace lrnn::cli
