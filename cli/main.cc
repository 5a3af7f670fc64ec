// `lrnn`: the program. Errors end here: one line on stderr, exit code 2 for bad input, 1 when the work failed.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>

#include "cli/commands.h"
#include "lrnn/base/error.h"
#include "lrnn/base/version.h"
#ifdef LRNN_WITH_TORCH
#include "lrnn/ops/huge_pages.h"
#endif

namespace {

// A first word that is no command is an Error that lists them; CLI11 would only say that one is required.
void CheckCommand(CLI::App& app, const std::string& word) {
  if (word.empty() || word[0] == '-') return;
  std::string known;
  for (const CLI::App* command : app.get_subcommands([](CLI::App*) { return true; })) {
    if (command->get_name() == word) return;
    known += (known.empty() ? "" : ", ") + command->get_name();
  }
  lrnn::Fail("unknown command \"{}\" (known: {})", word, known);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app(
      "lrnn: linear RNNs that track state\n\n"
      "Trains, evaluates and runs linear RNNs whose state transitions have eigenvalues in [0, 1] or, extended, in [-1, "
      "1].\n"
      "Each command explains itself:  lrnn train --help",
      "lrnn");
  app.set_version_flag("--version", std::string("lrnn ") + std::string(lrnn::kVersion), "print the version");
  app.require_subcommand(1);
#ifdef LRNN_WITH_TORCH
  lrnn::ops::UseHugePages();
  lrnn::cli::AddTrain(app);
  lrnn::cli::AddEval(app);
  lrnn::cli::AddAnalyze(app);
  lrnn::cli::AddReproduce(app);
#endif
  lrnn::cli::AddCompile(app);
  lrnn::cli::AddCertify(app);
  lrnn::cli::AddFactor(app);
  lrnn::cli::AddTheory(app);
  lrnn::cli::AddRun(app);
  lrnn::cli::AddFuzz(app);
  lrnn::cli::AddReport(app);
  lrnn::cli::AddTasks(app);
#ifdef LRNN_WITH_TORCH
  lrnn::cli::AddLayers(app);
#endif
  app.failure_message([](const CLI::App* command, const CLI::Error& error) {
    return std::string("lrnn: ") + error.what() + "\n" + "Try: " + command->get_name() + " --help\n";
  });

  try {
    CheckCommand(app, argc > 1 ? argv[1] : "");
    app.parse(argc, argv);
    return 0;
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  } catch (const lrnn::Failure& failure) {
    std::fprintf(stderr, "lrnn: %s\n", failure.what());
    return 1;
  } catch (const lrnn::Error& error) {
    std::fprintf(stderr, "lrnn: %s\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "lrnn: unexpected: %s\n", error.what());
    return 1;
  }
}
