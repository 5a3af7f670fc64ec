// lrnn analyze: what a model does inside.
#include "cli/analyze_automaton.h"
#include "cli/analyze_compiled.h"
#include "cli/analyze_dynamics.h"
#include "cli/arguments.h"
#include "cli/commands.h"
#include "lrnn/runtime/automaton_files.h"

namespace lrnn::cli {
namespace {

struct Options {
  std::string model;
  bool spectrum = false;
  bool automaton = false;
  bool snap = false;
  std::string out;
  std::string task;
  std::vector<std::string> parameters;
  std::string lengths;
  int64_t sequences = 32;
  int64_t max_length = 0;
  bool json = false;
};

void RunAnalyze(const Options& options) {
  if (const auto path = ModelPath(options.model); IsAutomaton(ModelDirectory::Open(path))) {
    return AnalyzeCompiled(path, options.json);
  }
  if (options.automaton || options.snap) {
    const AnalyzeAutomatonOptions chosen{options.model,     options.task, options.parameters, options.lengths,
                                         options.sequences, options.out,  options.json};
    return options.snap ? SnapModel(chosen) : AnalyzeAutomaton(chosen);
  }
  AnalyzeDynamics({options.model, options.task, options.parameters, options.lengths, options.sequences,
                   options.max_length, options.spectrum, options.json});
}

}  // namespace

void AddAnalyze(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("analyze", "the eigenvalues a model uses, the states it keeps apart");
  command->footer("The result of a run is kept in its analysis.json and spectrum.json.");
  command->add_option("MODEL", options->model, "a run, or a model directory")->required();
  command->add_flag("--spectrum", options->spectrum, "only the eigenvalues of its state transitions");
  CLI::Option* automaton =
      command->add_flag("--automaton", options->automaton, "the automaton that the model has learned");
  CLI::Option* snap =
      command
          ->add_flag("--snap", options->snap, "move a DeltaNet onto exact transitions, into a new directory, certify")
          ->excludes(automaton);
  command->add_option("-o,--out", options->out, "where --snap writes; default: RUN/snapped or MODEL-snapped")
      ->needs(snap);
  command->add_option("--task", options->task, "whose sequences to feed; default: what the model was trained for");
  command->add_option("--set", options->parameters, "a parameter of the task: PARAMETER=VALUE (repeatable)");
  command->add_option("--lengths", options->lengths, "their lengths; default: the run's, or 40:256");
  command
      ->add_option("--max-length", options->max_length,
                   "up to which separation of states is measured; default: 8 times the longest of the training")
      ->check(CLI::PositiveNumber);
  command->add_option("--sequences", options->sequences, "how many")->capture_default_str()->check(CLI::PositiveNumber);
  command->add_flag("--json", options->json, "print the result as JSON");
  command->callback([options] { RunAnalyze(*options); });
}

}  // namespace lrnn::cli
