#include "lrnn/tasks/automaton.h"

#include <algorithm>
#include <set>

#include "lrnn/automata/dfa.h"
#include "lrnn/automata/regex.h"
#include "lrnn/automata/table.h"
#include "lrnn/automata/utf8.h"
#include "lrnn/base/error.h"
#include "lrnn/tasks/text_file.h"

namespace lrnn {
namespace {

struct Language {
  Dfa dfa;
  bool predicts_state;
  std::vector<std::vector<int32_t>> live_letters;  // for each state, those after which a word can be accepted; empty:
                                                   // letters are drawn uniformly

  int32_t Target(int state) const { return dfa.num_letters() + (predicts_state ? state : dfa.accepting[state]); }
};

class LetterStream : public ExampleStream {
 public:
  LetterStream(const Language& language, int64_t length, Rng rng)
      : ExampleStream(length), language_(language), length_(length), rng_(rng), state_(language.dfa.start) {}

 private:
  Position Next() override {
    const int32_t letter = Draw();
    state_ = language_.dfa.next[letter][state_];
    return {letter, language_.Target(state_)};
  }

  int32_t Draw() {
    const uint32_t letters = static_cast<uint32_t>(language_.dfa.num_letters());
    if (language_.live_letters.empty()) return static_cast<int32_t>(rng_.Below(letters));
    const std::vector<int32_t>& live = language_.live_letters[state_];
    if (live.empty() || rng_.Between(1, length_) == 1) return static_cast<int32_t>(rng_.Below(letters));
    return live[rng_.Below(static_cast<uint32_t>(live.size()))];
  }

  const Language& language_;
  int64_t length_;
  Rng rng_;
  int state_;
};

class Automaton : public Task {
 public:
  Automaton(std::string name, Language language) : name_(std::move(name)), language_(std::move(language)) {}

  std::string name() const override { return name_; }
  double chance() const override { return language_.predicts_state ? 1.0 / language_.dfa.num_states : 0.5; }
  int64_t min_length() const override { return 1; }
  int64_t tokens(int64_t length) const override { return length; }

  std::optional<TaskAutomaton> automaton() const override {
    TaskAutomaton result{language_.dfa, {}};
    for (int state = 0; state < language_.dfa.num_states; ++state) result.answers.push_back(language_.Target(state));
    return result;
  }

  std::vector<std::string> symbols() const override {
    std::vector<std::string> symbols = language_.dfa.letters;
    if (language_.predicts_state) {
      for (int state = 0; state < language_.dfa.num_states; ++state) symbols.push_back(fmt::format("<q{}>", state));
    } else {
      symbols.insert(symbols.end(), {"<reject>", "<accept>"});
    }
    return symbols;
  }

 protected:
  std::unique_ptr<ExampleStream> Start(int64_t length, Rng rng) const override {
    return std::make_unique<LetterStream>(language_, length, rng);
  }

 private:
  std::string name_;
  Language language_;
};

// The states from which an accepting one can be reached.
std::vector<bool> LiveStates(const Dfa& dfa) {
  std::vector<bool> live = dfa.accepting;
  for (bool changed = true; changed;) {
    changed = false;
    for (int state = 0; state < dfa.num_states; ++state) {
      if (live[state]) continue;
      live[state] = std::any_of(dfa.next.begin(), dfa.next.end(), [&](const auto& row) { return live[row[state]]; });
      changed |= live[state];
    }
  }
  return live;
}

std::unique_ptr<Task> MakeAutomaton(const std::string& name, Dfa dfa, const TaskParameters& parameters) {
  Language language{std::move(dfa), parameters.Choice("predict", {"acceptance", "state"}) == "state", {}};
  const Dfa& automaton = language.dfa;
  if (language.predicts_state) {
    LRNN_CHECK(automaton.num_states > 1, "task \"{}\": expected an automaton with several states, got one", name);
  } else {
    const auto accepting = std::count(automaton.accepting.begin(), automaton.accepting.end(), true);
    LRNN_CHECK(accepting > 0 && accepting < automaton.num_states,
               "task \"{}\": expected an automaton with accepting states and others, got {} of {}", name, accepting,
               automaton.num_states);
  }
  if (parameters.Choice("letters", {"uniform", "live"}) == "live") {
    const std::vector<bool> live = LiveStates(automaton);
    language.live_letters.resize(automaton.num_states);
    for (int letter = 0; letter < automaton.num_letters(); ++letter) {
      for (int state = 0; state < automaton.num_states; ++state) {
        if (live[automaton.next[letter][state]]) language.live_letters[state].push_back(letter);
      }
    }
  }
  auto task = std::make_unique<Automaton>(name, std::move(language));
  std::set<std::string> names;
  for (const std::string& symbol : task->symbols()) {
    LRNN_CHECK(names.insert(symbol).second, "task \"{}\": the letter {} is the name of a target too", name, symbol);
  }
  return task;
}

std::unique_ptr<Task> MakeFromRegex(const TaskParameters& parameters) {
  RegexOptions options;
  const std::string alphabet = parameters.String("alphabet");
  for (size_t at = 0; at < alphabet.size();) {
    const int bytes = DecodeUtf8(alphabet, at).bytes;
    if (bytes == 0) parameters.Refuse("alphabet", "letters in UTF-8");
    options.alphabet.push_back(alphabet.substr(at, bytes));
    at += bytes;
  }
  return MakeAutomaton("regex", FromRegex(parameters.String("regex"), options), parameters);
}

std::unique_ptr<Task> MakeFromFile(const TaskParameters& parameters) {
  const std::string path = parameters.String("file");
  std::string text = ReadTextFile(path);
  if (!path.ends_with(".regex")) return MakeAutomaton("dfa", ReadTable(text, path), parameters);
  while (text.ends_with('\n') || text.ends_with('\r')) text.pop_back();
  RegexOptions options;
  options.source = path;
  return MakeAutomaton("dfa", FromRegex(text, options), parameters);
}

const std::vector<TaskParameter> kShared = {{"predict", "acceptance", "acceptance or state"},
                                            {"letters", "uniform", "how they are drawn: uniform or live"}};

std::vector<TaskParameter> WithShared(std::vector<TaskParameter> parameters) {
  parameters.insert(parameters.end(), kShared.begin(), kShared.end());
  return parameters;
}

}  // namespace

TaskInfo RegexInfo() {
  return {"regex", "does the word so far match a regular expression?",
          WithShared({{"regex", nullptr, "the pattern, such as (ab)*"},
                      {"alphabet", "", "the letters, such as abc; default: those of the pattern"}}),
          MakeFromRegex};
}

TaskInfo DfaInfo() {
  return {"dfa", "does an automaton accept the word so far, or which state is it in?",
          WithShared({{"file", nullptr, "a transition table, or a pattern in a file NAME.regex"}}), MakeFromFile};
}

}  // namespace lrnn
