#include "cli/truth.h"

#include <algorithm>
#include <optional>
#include <set>

#include "cli/trained_task.h"
#include "lrnn/base/error.h"
#include "lrnn/runtime/vocabulary.h"
#include "lrnn/tasks/registry.h"

namespace lrnn::cli {
namespace {

struct Verdicts {
  int32_t reject, accept;
};

// The one answer of all accepting states and the one of all others, if it is so.
std::optional<Verdicts> VerdictsOf(const TokenAutomaton& automaton) {
  std::set<int32_t> accept, reject;
  for (int state = 0; state < automaton.dfa.num_states; ++state) {
    (automaton.dfa.accepting[state] ? accept : reject).insert(automaton.answers[state]);
  }
  if (accept.size() != 1 || reject.size() != 1) return std::nullopt;
  return Verdicts{*reject.begin(), *accept.begin()};
}

}  // namespace

std::shared_ptr<const Task> TaskOf(const Fields& config, const std::string& model) {
  const TrainedTask trained = TrainedFor(config);
  LRNN_CHECK(!trained.name.empty(), "--task: {} does not say what it was trained for", model);
  return MakeTask(trained.name, trained.parameters);
}

TokenAutomaton TruthOf(const Task& task) {
  const auto automaton = task.automaton();
  LRNN_CHECK(automaton, "task {}: there is no automaton that gives its answers", task.name());
  constexpr int64_t kExamples = 100, kLength = 200;  // in which every letter of a thousand occurs
  std::set<int32_t> drawn;
  const std::vector<std::string> symbols = task.symbols();
  TokenAutomaton truth;
  for (uint64_t i = 0; i < kExamples; ++i) {
    const Example example = ReadExample(task, kLength, Rng(0, i));
    const bool has_opening = symbols[example.tokens[0]] == "<bos>";
    truth.opening.assign(example.tokens.begin(), example.tokens.begin() + has_opening);
    drawn.insert(example.tokens.begin() + has_opening, example.tokens.end());
  }
  truth.dfa = automaton->dfa;
  truth.dfa.letters.clear();
  truth.dfa.next.clear();
  for (const int32_t token : drawn) {
    truth.dfa.letters.push_back(symbols[token]);
    truth.dfa.next.push_back(automaton->dfa.next[token]);
  }
  truth.tokens.assign(drawn.begin(), drawn.end());
  truth.answers = automaton->answers;
  return truth;
}

TokenAutomaton TruthOf(const Dfa& wanted, const Fields& config, const std::string& source) {
  const std::vector<std::string> symbols = Vocabulary::FromConfig(config).symbols();
  const auto token_of = [&](const std::string& name) -> std::optional<int32_t> {
    const auto found = std::find(symbols.begin(), symbols.end(), name);
    if (found == symbols.end()) return std::nullopt;
    return static_cast<int32_t>(found - symbols.begin());
  };
  TokenAutomaton truth{wanted, {}, {}, {}};
  for (const std::string& letter : wanted.letters) {
    const auto token = token_of(letter);
    LRNN_CHECK(token, "{}: the letter {} is no symbol of the model (it has: {})", source, letter,
               fmt::join(symbols, " "));
    truth.tokens.push_back(*token);
  }
  std::optional<Verdicts> verdicts;
  if (const auto reject = token_of("<reject>"), accept = token_of("<accept>"); reject && accept) {
    verdicts = {*reject, *accept};
  } else if (!TrainedFor(config).name.empty()) {
    const auto task = TaskOf(config, source);
    if (task->automaton()) {
      const TokenAutomaton own = TruthOf(*task);
      truth.opening = own.opening;
      verdicts = VerdictsOf(own);
    }
  }
  LRNN_CHECK(verdicts, "{}: the model does not answer with accept and reject, which an automaton could be compared to",
             source);
  for (const bool accepting : wanted.accepting) {
    truth.answers.push_back(accepting ? verdicts->accept : verdicts->reject);
  }
  return truth;
}

}  // namespace lrnn::cli
