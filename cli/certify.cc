// lrnn certify: whether a compiled or a trained model is its automaton, on words of every length.
#include "lrnn/compile/certify.h"

#include <fmt/core.h>

#include "cli/arguments.h"
#include "cli/certificates.h"
#include "cli/certify_trained.h"
#include "cli/commands.h"
#include "lrnn/automata/operations.h"
#include "lrnn/automata/table.h"
#include "lrnn/base/error.h"
#include "lrnn/io/atomic_file.h"
#include "lrnn/runtime/automaton_files.h"

namespace lrnn::cli {
namespace {

void RunCertify(const CertifyTrainedOptions& options) {
  const ModelDirectory directory = ModelDirectory::Open(ModelPath(options.model));
  if (!IsAutomaton(directory)) return CertifyTrained(options);
  LRNN_CHECK(options.regex.empty(), "--regex: {} is a compiled automaton; compare it with --dfa FILE", options.model);
  const AutomatonNetwork network = ReadAutomaton(directory);
  if (!options.dfa.empty()) {
    const Dfa wanted = ReadTable(ReadFile(options.dfa), options.dfa);
    if (const auto word = Counterexample(network.dfa, wanted)) {
      std::string letters;
      for (const int letter : *word) letters += network.dfa.letters[letter] + " ";
      throw Failure(fmt::format("{}: not the language of {}: they differ on the word '{}' ({} letters)", options.model,
                                options.dfa, letters.empty() ? "" : letters.substr(0, letters.size() - 1),
                                word->size()));
    }
  }
  const Certificates certificates = Certify(network);
  if (options.json) {
    nlohmann::json json = {{"model", options.model}, {"network", ToJson(network)}};
    json.update(ToJson(certificates));
    fmt::print("{}\n", json.dump());
  } else {
    PrintNetwork(network);
    PrintCertificates(certificates);
  }
  if (certificates.ProvedFormats().empty()) throw Failure(fmt::format("{}: not proved", options.model));
}

}  // namespace

void AddCertify(CLI::App& app) {
  auto options = std::make_shared<CertifyTrainedOptions>();
  CLI::App* command = app.add_subcommand("certify", "prove that a model is its automaton, at all lengths");
  command->footer(
      "C1: every entry of the cascade's tables is right, by induction over the word.\n"
      "C2: every layer's arithmetic is exact, in numbers that a float format holds.\n"
      "C3: every state of the layers that can be reached, bit by bit, on the code that `lrnn run` uses.\n"
      "On a trained model only C3, against the automaton of its task or the one given: until it closes, an answer is\n"
      "wrong or the budget is used up; then all words up to some length are right.\n"
      "Exit code 1 when nothing is proved.\n\n"
      "  lrnn certify m --dfa wanted.dfa\n"
      "  lrnn certify runs/parity");
  command->add_option("MODEL", options->model, "a model directory, of lrnn compile or trained, or a run")->required();
  CLI::Option* dfa =
      command->add_option("--dfa", options->dfa, "a transition table whose language the model should have");
  command->add_option("--regex", options->regex, "a pattern that a trained model should know")->excludes(dfa);
  command->add_option("--nodes", options->max_nodes, "states of a trained model to look at")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  command->add_flag("--json", options->json, "print a JSON object");
  command->callback([options] { RunCertify(*options); });
}

}  // namespace lrnn::cli
