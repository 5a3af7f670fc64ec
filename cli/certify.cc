// lrnn certify: whether a compiled model is its automaton, on words of every length.
#include "lrnn/compile/certify.h"

#include <fmt/core.h>

#include "cli/certificates.h"
#include "cli/commands.h"
#include "lrnn/automata/operations.h"
#include "lrnn/automata/table.h"
#include "lrnn/base/error.h"
#include "lrnn/io/atomic_file.h"
#include "lrnn/runtime/automaton_files.h"

namespace lrnn::cli {
namespace {

struct Options {
  std::string model;
  std::string dfa;
  bool json = false;
};

void RunCertify(const Options& options) {
  const ModelDirectory directory = ModelDirectory::Open(options.model);
  LRNN_CHECK(IsAutomaton(directory), "{}: only compiled automata (model_type {}) can be certified",
             (directory.path() / "config.json").string(), kAutomatonModelType);
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
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("certify", "prove that a compiled model is its automaton, at all lengths");
  command->footer(
      "C1: every entry of the cascade's tables is right, by induction over the word.\n"
      "C2: every layer's arithmetic is exact, in numbers that a float format holds.\n"
      "C3: every state of the layers that can be reached, bit by bit, on the code that `lrnn run` uses.\n"
      "Exit code 1 when nothing is proved.\n\n"
      "  lrnn certify m --dfa wanted.dfa");
  command->add_option("MODEL", options->model, "a model directory of lrnn compile")->required();
  command->add_option("--dfa", options->dfa, "a transition table whose language the model should have, too");
  command->add_flag("--json", options->json, "print a JSON object");
  command->callback([options] { RunCertify(*options); });
}

}  // namespace lrnn::cli
