// lrnn theory: what the theorems on state tracking say of a model's transition matrices.
#include <fmt/core.h>

#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <sstream>

#include "cli/arguments.h"
#include "cli/commands.h"
#include "lrnn/base/error.h"
#include "lrnn/compile/eigenvalues.h"
#include "lrnn/io/atomic_file.h"
#include "lrnn/runtime/automaton_files.h"
#include "lrnn/runtime/model.h"
#include "lrnn/runtime/vocabulary.h"
#include "lrnn/theory/conditions.h"
#include "lrnn/theory/cycle.h"
#include "lrnn/theory/drift.h"
#include "lrnn/theory/horizon.h"
#include "lrnn/theory/period.h"
#ifdef LRNN_WITH_TORCH
#include "cli/theory_trained.h"
#endif

namespace lrnn::cli {
namespace {

struct Options {
  std::string model, matrices;
  std::string word;
  int64_t steps = 100'000;
  int64_t tokens = 1'000'000;
  uint64_t seed = 1;
  bool json = false;

  const std::string& source() const { return matrices.empty() ? model : matrices; }
};

bool IsTrained(const Options& options) {
  return options.matrices.empty() && !IsAutomaton(ModelDirectory::Open(ModelPath(options.model)));
}

Transitions LoadTransitions(const Options& options) {
  LRNN_CHECK(options.model.empty() != options.matrices.empty(), "expected a MODEL or --matrices FILE, one of them");
  if (!options.matrices.empty()) return ReadTransitions(ReadFile(options.matrices), options.matrices);
  const ModelDirectory directory = ModelDirectory::Open(ModelPath(options.model));
  if (IsAutomaton(directory)) return TransitionsOf(ReadAutomaton(directory));
#ifdef LRNN_WITH_TORCH
  return ObservedEigenvalues(directory.path());
#else
  Fail("{}: the eigenvalues of trained models are computed by a build with torch; this one has none", options.model);
#endif
}

void PrintVerdict(const Options& options, const char* question, const char* theorem, const Verdict& verdict) {
  if (options.json) {
    const nlohmann::json json = {{"source", options.source()},
                                 {"question", question},
                                 {"answer", Name(verdict.answer)},
                                 {"checked", verdict.checked},
                                 {"reason", verdict.reason}};
    fmt::print("{}\n", json.dump());
    return;
  }
  fmt::print("question    {}\n", question);
  fmt::print("checked     {}: {}\n", options.source(), verdict.checked);
  fmt::print("verdict     {}\n", Name(verdict.answer));
  fmt::print("reason      {}\n", verdict.reason);
  fmt::print("theorem     {}\n", theorem);
}

void RunParity(const Options& options) {
  PrintVerdict(options, "can it tell odd from even, in finite precision, at all lengths?",
               "only if some A(x) of some layer has an eigenvalue of modulus >= 1 that is not real and positive",
               CheckParity(LoadTransitions(options)));
}

void RunModularCounting(const Options& options) {
  LRNN_CHECK(options.model.empty() || !IsTrained(options),
             "{}: this takes the products of a model's matrices; for trained models see lrnn theory parity and horizon",
             options.model);
  PrintVerdict(options, "can it count modulo an m that is no power of 2, in finite precision, at all lengths?",
               "only if some product of 2^(i-1) matrices of layer i has an eigenvalue of modulus >= 1 that is not real",
               CheckModularCounting(LoadTransitions(options)));
}

std::string Tokens(double tokens) {
  if (std::isinf(tokens)) return "for ever";
  return tokens < 1e6 ? fmt::format("{:.0f}", tokens) : fmt::format("{:.2g}", tokens);
}

void RunHorizon(const Options& options) {
  const std::vector<LayerHorizon> horizons = Horizons(LoadTransitions(options));
  if (options.json) {
    nlohmann::json json = {{"source", options.source()}, {"layers", nlohmann::json::array()}};
    const auto tokens = [](double modulus, double noise) -> nlohmann::json {
      const double found = HorizonTokens(modulus, noise);
      return std::isinf(found) ? nlohmann::json() : nlohmann::json(found);
    };
    for (const LayerHorizon& horizon : horizons) {
      const double modulus = std::abs(horizon.eigenvalue);
      json["layers"].push_back({{"layer", horizon.layer},
                                {"input", horizon.input},
                                {"eigenvalue", {horizon.eigenvalue.real(), horizon.eigenvalue.imag()}},
                                {"tokens",
                                 {{"bf16", tokens(modulus, kNoiseBf16)},
                                  {"fp32", tokens(modulus, kNoiseFp32)},
                                  {"fp64", tokens(modulus, kNoiseFp64)}}}});
    }
    fmt::print("{}\n", json.dump());
    return;
  }
  fmt::print("{}: tokens for which the largest eigenvalue that is not positive carries parity\n", options.source());
  fmt::print("(what is left of the state, |lambda|^t, is above the rounding: ln(1/noise) / -ln|lambda|)\n");
  if (horizons.empty()) fmt::print("none: all eigenvalues are positive or 0, and carry no parity at all\n");
  if (!horizons.empty()) fmt::print("{:>20} {:>10} {:>10} {:>10}   where\n", "eigenvalue", "bf16", "fp32", "fp64");
  for (const LayerHorizon& horizon : horizons) {
    const double modulus = std::abs(horizon.eigenvalue);
    fmt::print("{:>20} {:>10} {:>10} {:>10}   {}, input {}\n", EigenvalueText(horizon.eigenvalue),
               Tokens(HorizonTokens(modulus, kNoiseBf16)), Tokens(HorizonTokens(modulus, kNoiseFp32)),
               Tokens(HorizonTokens(modulus, kNoiseFp64)), horizon.layer, horizon.input);
  }
}

struct NamedPeriods {
  std::string name;
  std::vector<PeriodResult> results;
};

struct NamedWord {
  std::string name;
  std::vector<int> tokens;
};

// The words to repeat: the one that was given, or each of the first `count` tokens by itself.
std::vector<NamedWord> Words(const Options& options, const Vocabulary& vocabulary, int64_t count) {
  std::vector<NamedWord> words;
  if (options.word.empty()) {
    for (int x = 0; x < count; ++x) words.push_back({vocabulary.Name(x), {x}});
    return words;
  }
  words.push_back({options.word, {}});
  std::istringstream parts(options.word);
  for (std::string part; parts >> part;) {
    const std::vector<int32_t> tokens = vocabulary.Parse(part);
    words[0].tokens.insert(words[0].tokens.end(), tokens.begin(), tokens.end());
  }
  LRNN_CHECK(!words[0].tokens.empty(), "--word: expected at least one letter");
  return words;
}

std::vector<NamedPeriods> MatrixPeriods(const Options& options) {
  std::vector<NamedPeriods> rows;
  const Transitions transitions = LoadTransitions(options);
  for (const TransitionLayer& layer : transitions.layers) {
    std::vector<std::string> inputs;
    for (const Transition& transition : layer.transitions) inputs.push_back(transition.input);
    const Vocabulary vocabulary(inputs, static_cast<int64_t>(inputs.size()));
    for (const NamedWord& word : Words(options, vocabulary, vocabulary.size())) {
      rows.push_back({fmt::format("{}, {}", layer.name, word.name), FindPeriods(layer, word.tokens, options.steps)});
    }
  }
  return rows;
}

std::vector<NamedPeriods> ModelPeriods(const Options& options) {
  std::vector<NamedPeriods> rows;
  const ModelDirectory directory = ModelDirectory::Open(ModelPath(options.model));
  const Vocabulary vocabulary = Vocabulary::FromConfig(directory.fields());
  if (IsAutomaton(directory)) {
    const AutomatonNetwork network = ReadAutomaton(directory);
    for (const NamedWord& word : Words(options, vocabulary, network.dfa.num_letters())) {
      rows.push_back({word.name, FindPeriods(network, word.tokens, options.steps)});
    }
    return rows;
  }
  const RuntimeModel model = RuntimeModel::Load(directory.path());
  const std::unique_ptr<Session> session = model.NewSession();
  std::vector<float> start;
  session->SaveState(start);
  for (const NamedWord& word : Words(options, vocabulary, model.vocab_size())) {
    std::vector<float> logits;
    const auto step = [&](std::vector<float>& state) {
      session->LoadState(state);
      for (const int token : word.tokens) {
        const std::span<const float> given = session->Step(token);
        logits.assign(given.begin(), given.end());
      }
      session->SaveState(state);
    };
    std::optional<Cycle> cycle = FindCycle(start, step, options.steps);
    if (cycle) {
      // Buffers that go round (short convolutions) have a period of their own: what counts is what the model says.
      std::vector<float> state = start;
      for (int64_t t = 0; t < cycle->before; ++t) step(state);
      std::vector<std::vector<float>> said;
      for (int64_t t = 0; t < cycle->period; ++t) {
        step(state);
        said.push_back(logits);
      }
      cycle->period = SmallestPeriod(said);
    }
    rows.push_back({word.name, {{"fp32", cycle, std::nullopt}}});
  }
  return rows;
}

void RunPeriod(const Options& options) {
  LRNN_CHECK(options.model.empty() != options.matrices.empty(), "expected a MODEL or --matrices FILE, one of them");
  const bool has_cast = !options.matrices.empty();
  const std::vector<NamedPeriods> rows = has_cast ? MatrixPeriods(options) : ModelPeriods(options);
  if (options.json) {
    nlohmann::json json = {{"source", options.source()}, {"words", nlohmann::json::array()}};
    for (const NamedPeriods& row : rows) {
      nlohmann::json results = nlohmann::json::array();
      for (const PeriodResult& result : row.results) {
        nlohmann::json one = {{"rounding", result.rounding}, {"period", nullptr}};
        if (result.stepwise) one.update({{"before", result.stepwise->before}, {"period", result.stepwise->period}});
        if (result.cast) one["cast_period"] = *result.cast;
        results.push_back(one);
      }
      json["words"].push_back({{"word", row.name}, {"results", results}});
    }
    fmt::print("{}\n", json.dump());
    return;
  }
  fmt::print("{}: states on w w w ..., until they come again\n", options.source());
  fmt::print("{:<28} {:<8} {:>12} {:>10}{}\n", "w", "rounding", "before", "period", has_cast ? "   cast" : "");
  for (const NamedPeriods& row : rows) {
    for (const PeriodResult& result : row.results) {
      std::string cast;
      if (has_cast) cast = result.cast ? fmt::format("{:>7}", *result.cast) : "      -";
      if (result.stepwise) {
        fmt::print("{:<28} {:<8} {:>12} {:>10}{}\n", row.name, result.rounding, result.stepwise->before,
                   result.stepwise->period, cast);
      } else {
        fmt::print("{:<28} {:<8} {:>23}{}\n", row.name, result.rounding, fmt::format("open after {}", options.steps),
                   cast);
      }
    }
  }
  fmt::print("(w^m)* is recognised only if m divides the period.{}\n",
             has_cast ? " cast: exact states, rounded when read; period at most 64." : "");
}

void RunDrift(const Options& options) {
  nlohmann::json json = nlohmann::json::array();
  if (!options.json) {
    fmt::print("tokens until the wrong state is read, at most {}; else the error of the state, of what it may be\n",
               options.tokens);
    fmt::print("{:<22} {:<15} {:>24} {:>24} {:>24}\n", "representation", "word", "fp32", "bf16 keys, fp32 state",
               "bf16");
  }
  MeasureDrift(options.tokens, options.seed, [&](const Drift& drift) {
    if (options.json) {
      json.push_back({{"representation", drift.representation},
                      {"word", drift.word},
                      {"arithmetic", drift.arithmetic},
                      {"tokens", drift.tokens},
                      {"wrong_at", drift.wrong_at < 0 ? nlohmann::json() : nlohmann::json(drift.wrong_at)},
                      {"error", drift.error},
                      {"limit", drift.limit}});
      return;
    }
    if (drift.arithmetic == "fp32") fmt::print("{:<22} {:<15}", drift.representation, drift.word);
    const std::string cell = drift.wrong_at >= 0 ? fmt::format("wrong at {}", drift.wrong_at)
                                                 : fmt::format("{:.1e} of {:.1e}", drift.error, drift.limit);
    fmt::print(" {:>24}{}", cell, drift.arithmetic == "bf16" ? "\n" : "");
    std::fflush(stdout);
  });
  if (options.json) fmt::print("{}\n", json.dump());
}

CLI::App* AddQuestion(CLI::App& theory, const std::shared_ptr<Options>& options, const char* name, const char* help,
                      void (*run)(const Options&)) {
  CLI::App* command = theory.add_subcommand(name, help);
  command->add_option("MODEL", options->model, "a model directory of lrnn compile, a run, or a trained model");
  command->add_option("--matrices", options->matrices, "a file with transition matrices, instead");
  command->add_flag("--json", options->json, "print a JSON object");
  command->callback([options, run] { run(*options); });
  return command;
}

}  // namespace

void AddTheory(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* theory = app.add_subcommand("theory", "what the theorems on state tracking say of a model");
  theory->require_subcommand(1);
  theory->footer(
      "A file of matrices is one square matrix, or several under the words layer, input NAME, and, for period,\n"
      "offset (B of H <- A H + B) and start (H_0):\n\n"
      "  layer\n"
      "  input a\n"
      "  0 1\n"
      "  1 0\n\n"
      "  lrnn theory parity m\n"
      "  lrnn theory period --matrices turn.txt\n"
      "  lrnn theory drift --tokens 10000000");
  AddQuestion(*theory, options, "parity", "whether the eigenvalues allow parity", RunParity);
  AddQuestion(*theory, options, "modcount", "whether the products' eigenvalues allow counting modulo m",
              RunModularCounting);
  CLI::App* period =
      AddQuestion(*theory, options, "period", "the periods of the states in fp64, fp32, bf16 and 8 bits", RunPeriod);
  period->add_option("--word", options->word, "what is repeated; default: each input by itself");
  period->add_option("--steps", options->steps, "give up after so many")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  AddQuestion(*theory, options, "horizon", "for how many tokens the eigenvalues carry parity", RunHorizon);
  CLI::App* drift = theory->add_subcommand("drift", "how long rounded representations of groups stay right");
  drift->add_option("--tokens", options->tokens, "read at most so many")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  drift->add_option("--seed", options->seed, "of the random letters")->capture_default_str();
  drift->add_flag("--json", options->json, "print a JSON list");
  drift->callback([options] { RunDrift(*options); });
}

}  // namespace lrnn::cli
