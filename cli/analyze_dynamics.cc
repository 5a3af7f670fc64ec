#include "cli/analyze_dynamics.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "cli/arguments.h"
#include "cli/models.h"
#include "lrnn/analysis/spectrum.h"
#include "lrnn/analysis/state_separation.h"
#include "lrnn/base/error.h"
#include "lrnn/base/hardware.h"
#include "lrnn/io/json_file.h"
#include "lrnn/ops/threads.h"
#include "lrnn/train/trainer.h"

namespace lrnn::cli {
namespace {

constexpr size_t kMostHeads = 16, kMostLetters = 12;  // rows of a table that is printed

struct Analysis {
  std::vector<size_t> without_eigenvalues;
  std::optional<Spectrum> spectrum = {};
  std::optional<StateSeparation> separation = {};
  std::string why_no_separation = {};
  nlohmann::json horizon = nullptr;  // as eval.json has it, or null
};

void PrintSummary(size_t layer, const std::string& what, const EigenvalueSummary& summary) {
  fmt::print("{:>5} {:>10} {:>9.4f} {:>9.4f} {:>9.4f} {:>12.1f} %", layer, what, summary.min, summary.max,
             summary.mean(), 100 * summary.share_negative());
  if (summary.largest_imaginary > 0) fmt::print("   complex, imaginary part up to {:.4f}", summary.largest_imaginary);
  fmt::print("\n");
}

void PrintSpectrum(const Spectrum& spectrum) {
  const auto header = [](const char* what) {
    fmt::print("{:>5} {:>10} {:>9} {:>9} {:>9} {:>14}\n", "layer", what, "smallest", "largest", "mean",
               "share below 0");
  };
  header("head");
  bool has_letters = false;
  for (const LayerSpectrum& layer : spectrum.layers) {
    EigenvalueSummary all;
    for (const EigenvalueSummary& head : layer.heads) all.Add(head);
    PrintSummary(layer.layer, "all", all);
    if (layer.heads.size() > 1 && layer.heads.size() <= kMostHeads) {
      for (size_t head = 0; head < layer.heads.size(); ++head) {
        PrintSummary(layer.layer, std::to_string(head), layer.heads[head]);
      }
    }
    has_letters |= layer.letters.size() <= kMostLetters;
  }
  if (!has_letters) return;
  fmt::print("\n");
  header("letter");
  for (const LayerSpectrum& layer : spectrum.layers) {
    for (const LetterSpectrum& letter : layer.letters) PrintSummary(layer.layer, letter.letter, letter.all);
  }
}

void PrintSeparation(const StateSeparation& separation) {
  const LayerSeparation& layer = separation.layers[separation.tracker];
  fmt::print(
      "\nstates of {} kept apart by layer {} ({} of {} states; in units of their distance at length {}, {:.4g})\n",
      separation.task, layer.layer, layer.states, separation.states, separation.options.reference_length,
      layer.distance);
  fmt::print("{:>9} {:>9} {:>11} {:>9} {:>9}\n", "length", "spread", "separation", "used", "accuracy");
  for (const SeparationPoint& point : layer.points) {
    const auto measured = std::find_if(separation.accuracy.begin(), separation.accuracy.end(),
                                       [&](const auto& each) { return each.first == point.length; });
    fmt::print("{:>9} {:>9.5f} {:>11.4f} {:>9.4f} {:>9.4f}\n", point.length, point.spread, point.separation, point.used,
               measured->second);
  }
}

std::string HorizonText(const nlohmann::json& horizon) {
  if (horizon.is_null()) return "not measured yet (lrnn eval RUN --horizon)";
  const int64_t length = horizon.at("length");
  if (!horizon.at("has_ended").get<bool>()) return fmt::format("beyond length {}", length);
  return length == 0 ? std::string("below 0.99 from the start") : fmt::format("length {}", length);
}

void Print(const AnalyzeDynamicsOptions& options, const LoadedModel& loaded, const Analysis& analysis) {
  if (analysis.spectrum) {
    fmt::print("{}: eigenvalues of the state transitions on {} ({} tokens), declared range [{},{}]\n", options.model,
               loaded.task->name(), analysis.spectrum->tokens, analysis.spectrum->range.low,
               analysis.spectrum->range.high);
    PrintSpectrum(*analysis.spectrum);
  }
  for (const size_t layer : analysis.without_eigenvalues) {
    fmt::print("layer {} has no eigenvalues: it is not a linear RNN\n", layer);
  }
  if (options.spectrum_only) return;
  if (analysis.separation) {
    PrintSeparation(*analysis.separation);
    fmt::print("\npredicted failure: {}\n", Describe(analysis.separation->prediction));
    fmt::print("measured horizon:  {}\n", HorizonText(analysis.horizon));
  } else {
    fmt::print("\nno separation of states: {}\n", analysis.why_no_separation);
  }
}

nlohmann::json ToJson(const LoadedModel& loaded, const Analysis& analysis) {
  nlohmann::json json = {{"format", "lrnn.analysis"},
                         {"version", 1},
                         {"task", loaded.task->name()},
                         {"parameters", loaded.parameters},
                         {"layers_without_eigenvalues", analysis.without_eigenvalues},
                         {"spectrum", nullptr},
                         {"separation", nullptr},
                         {"measured_horizon", analysis.horizon}};
  if (analysis.spectrum) json["spectrum"] = DetailsJson(*analysis.spectrum);
  if (analysis.separation) json["separation"] = lrnn::ToJson(*analysis.separation);
  if (!analysis.why_no_separation.empty()) json["why_no_separation"] = analysis.why_no_separation;
  return json;
}

// Not every task has an automaton, nor every model a state of fixed size: then the reason is the result.
void AnalyzeSeparation(const AnalyzeDynamicsOptions& options, LoadedModel& loaded, uint64_t seed, Analysis& analysis) {
  SeparationOptions separation{.seed = seed};
  if (loaded.run_config) separation.reference_length = loaded.run_config->train_lengths.max;
  separation.max_length =
      options.max_length > 0 ? options.max_length : std::max<int64_t>(1024, 8 * separation.reference_length);
  LRNN_CHECK(separation.max_length >= separation.reference_length,
             "--max-length: expected at least {}, the reference length, got {}", separation.reference_length,
             separation.max_length);
  try {
    analysis.separation = MeasureSeparation(loaded.model, *loaded.task, separation);
  } catch (const Error& error) {
    analysis.why_no_separation = error.what();
  }
}

}  // namespace

void AnalyzeDynamics(const AnalyzeDynamicsOptions& options) {
  ops::UseThreads(CpuCount());
  LoadedModel loaded = LoadWithTask(options.model, options.task, options.parameters);
  LengthRange lengths{40, 256};
  if (loaded.run_config) lengths = loaded.run_config->eval_lengths;
  if (!options.lengths.empty()) {
    const Lengths given = ParseLengths(options.lengths);
    lengths = {given.min, given.max};
  }
  const uint64_t seed = TestDataSeed(loaded.run_config ? loaded.run_config->seed : 0);

  Analysis analysis{.without_eigenvalues = LayersWithoutEigenvalues(loaded.model)};
  if (analysis.without_eigenvalues.size() < loaded.model->blocks().size()) {
    analysis.spectrum = MeasureSpectrum(loaded.model, *loaded.task, lengths, options.sequences, seed);
  }
  const bool is_kept = loaded.run && loaded.is_own_task();
  if (!options.spectrum_only) {
    AnalyzeSeparation(options, loaded, seed, analysis);
    if (is_kept && std::filesystem::exists(loaded.run->eval_path())) {
      analysis.horizon = ReadJson(loaded.run->eval_path()).value("horizon", nlohmann::json());
    }
  }
  if (is_kept && analysis.spectrum) WriteJson(loaded.run->spectrum_path(), lrnn::ToJson(*analysis.spectrum));
  if (is_kept && !options.spectrum_only) WriteJson(loaded.run->path() / "analysis.json", ToJson(loaded, analysis));
  if (options.json) {
    fmt::print("{}\n", ToJson(loaded, analysis).dump());
  } else {
    Print(options, loaded, analysis);
  }
}

}  // namespace lrnn::cli
