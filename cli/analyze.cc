// lrnn analyze: the eigenvalues a model really uses.
#include <ATen/Parallel.h>
#include <fmt/core.h>

#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/models.h"
#include "lrnn/analysis/spectrum.h"
#include "lrnn/base/hardware.h"
#include "lrnn/io/json_file.h"
#include "lrnn/train/trainer.h"

namespace lrnn::cli {
namespace {

struct Options {
  std::string model;
  bool spectrum = false;
  std::string task;
  std::string lengths;
  int64_t sequences = 32;
  bool json = false;
};

void RunAnalyze(const Options& options) {
  at::set_num_threads(CpuCount());
  LoadedModel loaded = LoadWithTask(options.model, options.task);
  LengthRange lengths{40, 256};
  if (loaded.run_config) lengths = loaded.run_config->eval_lengths;
  if (!options.lengths.empty()) {
    const Lengths given = ParseLengths(options.lengths);
    lengths = {given.min, given.max};
  }
  const uint64_t seed = TestDataSeed(loaded.run_config ? loaded.run_config->seed : 0);
  const Spectrum spectrum = MeasureSpectrum(loaded.model, *loaded.task, lengths, options.sequences, seed);
  const nlohmann::json result = ToJson(spectrum);
  if (loaded.run) WriteJson(loaded.run->spectrum_path(), result);
  if (options.json) {
    fmt::print("{}\n", result.dump());
    return;
  }
  fmt::print("{}: eigenvalues of the state transitions on {} ({} tokens), declared range [{},{}]\n", options.model,
             loaded.task->name(), spectrum.tokens, spectrum.range.low, spectrum.range.high);
  fmt::print("{:>5} {:>9} {:>9} {:>12}\n", "layer", "smallest", "largest", "share below 0");
  for (const LayerSpectrum& layer : spectrum.layers) {
    fmt::print("{:>5} {:>9.4f} {:>9.4f} {:>12.1f} %\n", layer.layer, layer.min, layer.max, 100 * layer.share_negative);
  }
}

}  // namespace

void AddAnalyze(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("analyze", "the eigenvalues a model really uses");
  command->footer("The result of a run is kept in its spectrum.json and shown by lrnn report.");
  command->add_option("MODEL", options->model, "a run, or a model directory")->required();
  command->add_flag("--spectrum", options->spectrum, "eigenvalues of the state transitions (the default)");
  command->add_option("--task", options->task, "whose sequences to feed; default: what the model was trained for");
  command->add_option("--lengths", options->lengths, "their lengths; default: the run's, or 40:256");
  command->add_option("--sequences", options->sequences, "how many")->capture_default_str()->check(CLI::PositiveNumber);
  command->add_flag("--json", options->json, "print the histogram as JSON");
  command->callback([options] { RunAnalyze(*options); });
}

}  // namespace lrnn::cli
