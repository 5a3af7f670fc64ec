// lrnn compile: an automaton becomes the weights of a linear RNN, with a proof.
#include <fmt/core.h>

#include "cli/certificates.h"
#include "cli/commands.h"
#include "lrnn/automata/dot.h"
#include "lrnn/automata/finite_group.h"
#include "lrnn/automata/groups.h"
#include "lrnn/automata/minimise.h"
#include "lrnn/automata/regex.h"
#include "lrnn/automata/table.h"
#include "lrnn/base/error.h"
#include "lrnn/compile/compiler.h"
#include "lrnn/io/atomic_file.h"
#include "lrnn/runtime/automaton_files.h"

namespace lrnn::cli {
namespace {

struct Options {
  std::string regex, dfa, group;
  std::string out;
  std::string mode = "auto", keys = "exact", eigenvalues = "[-1,1]";
  std::string dot;
  bool joint = false, rotations = false, bytes = false, overwrite = false, json = false;
};

Dfa ReadAutomaton(const Options& options) {
  if (!options.regex.empty()) {
    RegexOptions regex;
    if (options.bytes) regex.letters = RegexLetters::kBytes;
    return FromRegex(options.regex, regex);
  }
  if (!options.group.empty()) return CayleyAutomaton(FiniteGroup(ParseGroup(options.group)));
  return Trim(ReadTable(ReadFile(options.dfa), options.dfa));
}

void RunCompile(const Options& options) {
  LRNN_CHECK(options.eigenvalues == "[-1,1]" || options.eigenvalues == "[0,1]",
             "--eigenvalues: expected [-1,1] or [0,1], got {}", options.eigenvalues);
  LRNN_CHECK(options.overwrite || !std::filesystem::exists(options.out),
             "{}: exists already; choose another place, or say --overwrite", options.out);
  const Dfa dfa = ReadAutomaton(options);
  Compiled compiled = Compile(dfa, {.mode = ParseCompileMode(options.mode),
                                    .keys = ParseKeyStyle(options.keys),
                                    .joint = options.joint,
                                    .negative_eigenvalues = options.eigenvalues == "[-1,1]",
                                    .rotations = options.rotations});
  compiled.network.outputs_states = !options.group.empty();
  const Certificates certificates = Certify(compiled.network);
  WriteAutomaton(options.out, compiled.network);
  if (!options.dot.empty()) WriteFileAtomically(options.dot, ToDot(dfa));

  if (options.json) {
    nlohmann::json json = {{"model", options.out}, {"network", ToJson(compiled.network)}, {"notes", compiled.notes}};
    json.update(ToJson(certificates));
    fmt::print("{}\n", json.dump());
    return;
  }
  PrintNetwork(compiled.network);
  for (const std::string& note : compiled.notes) fmt::print("note        {}\n", note);
  PrintCertificates(certificates);
  fmt::print("{}: written; try  lrnn run {} WORD\n", options.out, options.out);
}

}  // namespace

void AddCompile(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("compile", "turn a regular language or a group into exact weights, with a proof");
  command->footer(
      "The model is a cascade of DeltaProduct layers that holds the automaton's state exactly, for words of every\n"
      "length; its certificates say in which float formats that is proved (docs/automata_formats.md: the inputs).\n\n"
      "  lrnn compile --regex '(ab)*' -o m && lrnn certify m && lrnn run m abab\n"
      "  lrnn compile --group S5 -o s5\n"
      "  lrnn compile --dfa lock.dfa --eigenvalues '[0,1]' -o lock");
  CLI::Option_group* input = command->add_option_group("input", "one of");
  input->add_option("--regex", options->regex, "a regular expression");
  input->add_option("--dfa", options->dfa, "a file with a transition table");
  input->add_option("--group", options->group, "a group: S5, A5, Z60, A4xZ5, or generators '(0 1 2), (0 1)'");
  input->require_option(1);
  command->add_option("-o,--out", options->out, "the model directory to write")->required();
  command->add_option("--mode", options->mode, "auto, relax, sub, height, group or jit")->capture_default_str();
  command->add_option("--keys", options->keys, "exact, dup (of norm 1) or unit (of norm 1, rounded)")
      ->capture_default_str();
  command->add_option("--eigenvalues", options->eigenvalues, "[-1,1], or [0,1] for star-free languages")
      ->capture_default_str();
  command->add_flag("--joint", options->joint, "one wide layer a level instead of two");
  command->add_flag("--rotations", options->rotations, "a cyclic group as rotations: two factors, but rounded");
  command->add_flag("--bytes", options->bytes, "the letters of the expression are bytes, not characters");
  command->add_option("--dot", options->dot, "write the automaton as a Graphviz graph, too");
  command->add_flag("--overwrite", options->overwrite, "replace what is there");
  command->add_flag("--json", options->json, "print a JSON object");
  command->callback([options] { RunCompile(*options); });
}

}  // namespace lrnn::cli
