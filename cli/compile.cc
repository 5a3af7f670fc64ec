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
#include "lrnn/base/timer.h"
#include "lrnn/compile/compiler.h"
#include "lrnn/io/atomic_file.h"
#include "lrnn/runtime/automaton_files.h"

namespace lrnn::cli {
namespace {

struct Options {
  std::optional<std::string> regex, regex_file, dfa, group;
  std::string out;
  std::string mode = "auto", keys = "exact", range = "-1,1";
  std::string dot;
  bool joint = false, rotations = false, bytes = false, overwrite = false, json = false;
};

Dfa ReadAutomaton(const Options& options) {
  RegexOptions regex;
  if (options.bytes) regex.letters = RegexLetters::kBytes;
  if (options.regex) return FromRegex(*options.regex, regex);
  if (options.regex_file) {
    regex.source = *options.regex_file;
    std::string pattern = ReadFile(*options.regex_file);
    if (pattern.ends_with('\n')) pattern.pop_back();
    return FromRegex(pattern, regex);
  }
  if (options.group) return CayleyAutomaton(FiniteGroup(ParseGroup(*options.group)));
  return Minimise(ReadTable(ReadFile(*options.dfa), *options.dfa));
}

bool NegativeEigenvalues(const std::string& range) {
  const bool negative = range == "[-1,1]" || range == "-1,1";
  LRNN_CHECK(negative || range == "[0,1]" || range == "0,1", "--range: expected -1,1 or 0,1, got {}", range);
  return negative;
}

void RunCompile(const Options& options) {
  const bool negative_eigenvalues = NegativeEigenvalues(options.range);
  LRNN_CHECK(options.overwrite || !std::filesystem::exists(options.out),
             "{}: exists already; choose another place, or say --overwrite", options.out);
  const Dfa dfa = ReadAutomaton(options);
  Timer timer;
  Compiled compiled = Compile(dfa, {.mode = ParseCompileMode(options.mode),
                                    .keys = ParseKeyStyle(options.keys),
                                    .joint = options.joint,
                                    .negative_eigenvalues = negative_eigenvalues,
                                    .rotations = options.rotations});
  compiled.network.outputs_states = options.group.has_value();
  const double compile_seconds = timer.Seconds();
  timer.Reset();
  const Certificates certificates = Certify(compiled.network);
  const double certify_seconds = timer.Seconds();
  WriteAutomaton(options.out, compiled.network);
  if (!options.dot.empty()) WriteFileAtomically(options.dot, ToDot(dfa));

  if (options.json) {
    nlohmann::json json = {{"model", options.out}, {"network", ToJson(compiled.network)}, {"notes", compiled.notes}};
    json["seconds"] = {{"compile", compile_seconds}, {"certify", certify_seconds}};
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
      "length; its certificates say in which float formats that is proved (docs/automata_formats.md: the inputs).\n"
      "Tables are made for up to 256 states, 20,000 sets of states, 300,000 cases and groups of 4,000 elements;\n"
      "beyond, mode jit takes over, which has no limit and runs more slowly.\n\n"
      "  lrnn compile --regex '(ab)*' -o m && lrnn certify m && lrnn run m abab\n"
      "  lrnn compile --group S5 -o s5\n"
      "  lrnn compile --dfa lock.dfa --range 0,1 -o lock");
  CLI::Option_group* input = command->add_option_group("input", "one of");
  input->add_option("--regex", options->regex, "a regular expression");
  input->add_option("--regex-file", options->regex_file, "a file with a regular expression");
  input->add_option("--dfa", options->dfa, "a file with a transition table");
  input->add_option("--group", options->group, "a group: S5, A5, Z60, A4xZ5, or generators '(0 1 2), (0 1)'");
  input->require_option(1);
  command->add_option("-o,--out", options->out, "the model directory to write")->required();
  command->add_option("--mode", options->mode, "auto, relax, sub, height, group or jit")->capture_default_str();
  command->add_option("--keys", options->keys, "exact, dup (of norm 1) or unit (of norm 1, rounded)")
      ->capture_default_str();
  command
      ->add_option("--range,--eigenvalues", options->range, "of the eigenvalues: -1,1, or 0,1 for star-free languages")
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
