#include "cli/certify_trained.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "cli/arguments.h"
#include "cli/truth.h"
#include "lrnn/automata/regex.h"
#include "lrnn/automata/table.h"
#include "lrnn/base/error.h"
#include "lrnn/io/atomic_file.h"
#include "lrnn/io/model_directory.h"

namespace lrnn::cli {
namespace {

constexpr size_t kShownLetters = 60;  // of a long word

struct Truth {
  std::string name;
  TokenAutomaton automaton;
};

Truth FindTruth(const CertifyTrainedOptions& options, const Fields& config) {
  if (!options.dfa.empty()) {
    return {options.dfa, TruthOf(ReadTable(ReadFile(options.dfa), options.dfa), config, options.dfa)};
  }
  if (!options.regex.empty()) {
    return {options.regex, TruthOf(FromRegex(options.regex, {}), config, "--regex")};
  }
  const auto task = TaskOf(config, options.model);
  return {"task " + task->name(), TruthOf(*task)};
}

}  // namespace

std::string Spell(const Dfa& dfa, const std::vector<int>& word) {
  std::vector<std::string> letters;
  for (const int letter : word) letters.push_back(dfa.letters[letter]);
  if (letters.size() <= kShownLetters) return fmt::format("{}", fmt::join(letters, " "));
  letters.resize(kShownLetters);
  return fmt::format("{} ...", fmt::join(letters, " "));
}

std::string Verdict(const ModelCertificate& certificate, const TokenAutomaton& truth, const Vocabulary& vocabulary) {
  switch (certificate.end) {
    case ModelCertificate::End::kClosed:
      return "proved: right on words of every length, on this machine's instructions";
    case ModelCertificate::End::kWrong:
      return fmt::format(
          "wrong on the word '{}' ({} letters): the answer is {}, right is {}; all shorter words are right",
          Spell(truth.dfa, certificate.word), certificate.word.size(), vocabulary.Name(certificate.answer),
          vocabulary.Name(certificate.expected));
    case ModelCertificate::End::kBudget:
      break;
  }
  return fmt::format("not proved: right on all words up to {} letters, nothing is known of longer ones",
                     certificate.depth);
}

void CertifyTrained(const CertifyTrainedOptions& options) {
  const std::filesystem::path path = ModelPath(options.model);
  const RuntimeModel model = RuntimeModel::Load(path);
  const Truth truth = FindTruth(options, ModelDirectory::Open(path).fields());
  const Dfa& dfa = truth.automaton.dfa;
  const ModelCertificate certificate = CertifyModel(model, truth.automaton, {.max_nodes = options.max_nodes});
  const std::string verdict = Verdict(certificate, truth.automaton, model.vocabulary());
  if (options.json) {
    nlohmann::json json = {{"model", options.model},
                           {"truth", truth.name},
                           {"proved", certificate.proved()},
                           {"nodes", certificate.nodes},
                           {"steps", certificate.steps},
                           {"words_up_to", certificate.depth},
                           {"smallest_margin", certificate.margin},
                           {"verdict", verdict}};
    if (certificate.end == ModelCertificate::End::kWrong) {
      std::vector<std::string> word;
      for (const int letter : certificate.word) word.push_back(dfa.letters[letter]);
      json["wrong_word"] = word;
    }
    fmt::print("{}\n", json.dump());
  } else {
    fmt::print("trained model, {} numbers of state\n", model.NewSession()->StateBytes() / sizeof(float));
    fmt::print("truth       {}: {} states, {} letters\n", truth.name, dfa.num_states, dfa.num_letters());
    fmt::print("searched    {} pairs of model states, bit by bit, and automaton states; {} answers compared\n",
               certificate.nodes, certificate.steps);
    if (certificate.margin > 0) {
      fmt::print("margin      the right logit was at least {:.3g} above the others\n", certificate.margin);
    }
    if (certificate.proved()) fmt::print("{}\n", verdict);
  }
  if (!certificate.proved()) throw Failure(fmt::format("{}: {}", options.model, verdict));
}

}  // namespace lrnn::cli
