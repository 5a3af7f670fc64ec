// lrnn fuzz: random automata through the compiler, its proofs and the runtime.
#include "lrnn/compile/fuzz.h"

#include <fmt/core.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "lrnn/base/error.h"
#include "lrnn/base/hardware.h"
#include "lrnn/base/parallel.h"
#include "lrnn/base/progress.h"
#include "lrnn/base/timer.h"
#include "lrnn/io/atomic_file.h"

namespace lrnn::cli {
namespace {

struct Options {
  int64_t count = 1000;
  uint64_t seed = 1;
  uint64_t first = 0;
  int threads = 0;
  std::string out = ".";
  bool json = false;
};

struct Counts {
  int64_t networks = 0, proved = 0, rounded = 0, words = 0, tokens = 0, errors = 0;

  void Add(const FuzzTrial& trial) {
    ++networks;
    proved += trial.is_proved;
    rounded += !trial.is_exact;
    words += trial.words;
    tokens += trial.tokens;
    errors += !trial.problem.empty();
  }
};

void Print(const std::string& mode, const Counts& counts) {
  fmt::print("{:<14} {:>9} {:>9} {:>9} {:>9} {:>12} {:>7}\n", mode, counts.networks, counts.proved, counts.rounded,
             counts.words, counts.tokens, counts.errors);
}

nlohmann::json ToJson(const Counts& counts) {
  return {{"networks", counts.networks}, {"proved", counts.proved}, {"rounded", counts.rounded},
          {"words", counts.words},       {"tokens", counts.tokens}, {"errors", counts.errors}};
}

void RunFuzz(const Options& options) {
  constexpr int64_t kBlock = 64;  // automata between two updates of the progress bar
  const FuzzLimits limits;
  const int threads = options.threads > 0 ? options.threads : CpuCount();
  Progress progress(
      {.label = "fuzz", .total = options.count, .unit = "automata", .out = options.json ? nullptr : stderr});
  const Timer timer;
  std::map<std::string, Counts> by_mode;
  Counts all;
  std::vector<std::string> failures;
  for (int64_t done = 0; done < options.count;) {
    const int64_t block = std::min(kBlock, options.count - done);
    std::vector<std::vector<FuzzTrial>> results(block);
    ParallelFor(block, threads, [&](int64_t i) {
      const uint64_t index = options.first + static_cast<uint64_t>(done + i);
      const Dfa dfa = FuzzDfa(limits, options.seed, index);
      results[i] = FuzzTrials(dfa, limits, options.seed, index);
      for (FuzzTrial& trial : results[i]) RunFuzzTrial(dfa, limits, options.seed, index, trial);
    });
    for (int64_t i = 0; i < block; ++i) {
      const uint64_t index = options.first + static_cast<uint64_t>(done + i);
      for (const FuzzTrial& trial : results[i]) {
        by_mode[trial.mode].Add(trial);
        all.Add(trial);
        if (trial.problem.empty()) continue;
        const std::filesystem::path file =
            std::filesystem::path(options.out) / fmt::format("fuzz-{}-{}-{}.dfa", options.seed, index, failures.size());
        WriteFileAtomically(file, FuzzReport(FuzzDfa(limits, options.seed, index), options.seed, index, trial));
        failures.push_back(file.string());
      }
    }
    progress.Set("errors", static_cast<double>(all.errors));
    progress.Update(done += block);
  }
  progress.Finish();

  if (options.json) {
    nlohmann::json json = {{"automata", options.count}, {"seed", options.seed},       {"first", options.first},
                           {"all", ToJson(all)},        {"seconds", timer.Seconds()}, {"failures", failures}};
    for (const auto& [mode, counts] : by_mode) json["modes"][mode] = ToJson(counts);
    fmt::print("{}\n", json.dump());
  } else {
    fmt::print("{:<14} {:>9} {:>9} {:>9} {:>9} {:>12} {:>7}\n", "mode", "networks", "proved", "rounded", "words",
               "tokens", "errors");
    for (const auto& [mode, counts] : by_mode) Print(mode, counts);
    Print("all", all);
    fmt::print("{} automata in {}, {} errors\n", options.count, FormatSeconds(timer.Seconds()), all.errors);
  }
  if (!failures.empty()) throw Failure(fmt::format("{} errors; the first is in {}", all.errors, failures[0]));
}

}  // namespace

void AddFuzz(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("fuzz", "compile, prove and run random automata: zero errors expected");
  command->footer(
      "Automata of up to 8 states and 4 letters, each compiled in every mode that suits it, with keys and layers "
      "drawn\n"
      "at random. A network counts as proved when the certificates C1, C2 and C3 hold in fp32 and bf16; it is then run "
      "on\n"
      "words of up to 500 letters in both, and every state compared. Networks that round (keys unit, rotations) need "
      "C1\n"
      "and are run in fp32. A failure is written to a file that says how to see it again; exit code 1.\n\n"
      "  lrnn fuzz --count 10000 --seed 1");
  command->add_option("--count", options->count, "how many automata")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  command->add_option("--seed", options->seed, "names the series of automata")->capture_default_str();
  command->add_option("--first", options->first, "where in the series to begin")->capture_default_str();
  command->add_option("--threads", options->threads, "default: all cores");
  command->add_option("--out", options->out, "where failures are written")->capture_default_str();
  command->add_flag("--json", options->json, "print a JSON object; no progress bar");
  command->callback([options] { RunFuzz(*options); });
}

}  // namespace lrnn::cli
