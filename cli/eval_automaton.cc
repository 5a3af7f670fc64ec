#include "cli/eval_automaton.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "cli/arguments.h"
#include "lrnn/base/error.h"
#include "lrnn/base/progress.h"
#include "lrnn/base/rng.h"
#include "lrnn/runtime/automaton_model.h"
#include "lrnn/tasks/registry.h"

namespace lrnn::cli {
namespace {

struct Score {
  int64_t answers = 0, right = 0, letters = 0;
};

constexpr int64_t kBlock = 4096;  // letters at once

// The state after every letter of random words.
void OwnLanguage(const Dfa& dfa, AutomatonSession& session, int64_t length, Rng rng, Score& score) {
  std::vector<int> word, states;
  int state = dfa.start;
  for (int64_t done = 0; done < length; done += static_cast<int64_t>(word.size())) {
    word.resize(std::min(kBlock, length - done));
    states.resize(word.size());
    for (int& letter : word) letter = static_cast<int>(rng.Below(static_cast<uint32_t>(dfa.num_letters())));
    session.Run(word, states);
    for (size_t t = 0; t < word.size(); ++t) {
      state = dfa.next[word[t]][state];
      score.right += states[t] == state;
    }
    score.answers += static_cast<int64_t>(word.size());
    score.letters += static_cast<int64_t>(word.size());
  }
}

// What the tokens of a task mean to an automaton.
class TaskReader {
 public:
  TaskReader(const Task& task, const Dfa& dfa) : task_(task), dfa_(dfa) {
    const std::vector<std::string> symbols = task.symbols();
    for (size_t token = 0; token < symbols.size(); ++token) {
      const auto letter = std::find(dfa.letters.begin(), dfa.letters.end(), symbols[token]);
      letter_of_.push_back(letter == dfa.letters.end() ? -1 : static_cast<int>(letter - dfa.letters.begin()));
      answers_.push_back(AnswerNamed(symbols[token]));
    }
  }

  void Read(AutomatonSession& session, int64_t length, Rng rng, Score& score) const {
    const int64_t tokens = task_.tokens(length);
    const auto stream = task_.Open(length, rng);
    std::vector<int32_t> read, targets;
    std::vector<int> word, states;
    for (int64_t done = 0; done < tokens; done += static_cast<int64_t>(read.size())) {
      read.resize(std::min(kBlock, tokens - done));
      targets.resize(read.size());
      stream->Read(read, targets);
      word.clear();
      for (const int32_t token : read) word.push_back(Letter(token));
      states.resize(word.size());
      session.Run(word, states);
      for (size_t t = 0; t < word.size(); ++t) {
        if (targets[t] == kNoTarget) continue;
        ++score.answers;
        score.right += IsRight(targets[t], states[t]);
      }
      score.letters += static_cast<int64_t>(word.size());
    }
  }

 private:
  struct Answer {
    bool is_state;
    int value;  // a state, or whether it accepts
  };

  static std::optional<Answer> AnswerNamed(const std::string& name) {
    if (name == "<accept>" || name == "1") return Answer{false, 1};
    if (name == "<reject>" || name == "0") return Answer{false, 0};
    int state = 0;
    char end = 0;
    if (std::sscanf(name.c_str(), "<q%d%c", &state, &end) == 2 && end == '>') return Answer{true, state};
    return std::nullopt;
  }

  int Letter(int32_t token) const {
    LRNN_CHECK(letter_of_[token] >= 0, "--task: \"{}\" has the symbol {}; the letters of the automaton are {}",
               task_.name(), task_.symbols()[token], fmt::join(dfa_.letters, " "));
    return letter_of_[token];
  }

  bool IsRight(int32_t target, int state) const {
    LRNN_CHECK(answers_[target], "--task: \"{}\" wants the answer {}; an automaton accepts, rejects or is in a state",
               task_.name(), task_.symbols()[target]);
    const Answer& answer = *answers_[target];
    return answer.is_state ? state == answer.value : dfa_.accepting[state] == (answer.value == 1);
  }

  const Task& task_;
  const Dfa& dfa_;
  std::vector<int> letter_of_;                  // [token], -1: none
  std::vector<std::optional<Answer>> answers_;  // [token]
};

}  // namespace

void EvalAutomaton(const EvalAutomatonOptions& options) {
  const AutomatonModel model = AutomatonModel::Load(options.path);
  const Dfa& dfa = model.network().dfa;
  const Lengths lengths = ParseLengths(options.lengths.empty() ? "40:256" : options.lengths);
  std::shared_ptr<const Task> task;
  std::optional<TaskReader> reader;
  if (!options.task.empty()) {
    task = MakeTask(options.task, ParseTaskParameters(FindTask(options.task), options.parameters));
    CheckLengths(*task, {lengths.min, lengths.max});
    reader.emplace(*task, dfa);
  }
  AutomatonSession session = model.NewSession();
  Score score;
  {
    Progress progress({.label = fmt::format("eval {}:{}", lengths.min, lengths.max),
                       .total = options.sequences,
                       .unit = "sequences",
                       .out = options.json ? nullptr : stderr});
    for (int64_t i = 0; i < options.sequences; ++i) {
      Rng rng(options.seed, static_cast<uint64_t>(i));
      session.Reset();
      if (reader) {
        reader->Read(session, task->DrawLength({lengths.min, lengths.max}, rng), rng, score);
      } else {
        const int64_t length = rng.Between(lengths.min, lengths.max);
        OwnLanguage(dfa, session, length, rng, score);
      }
      progress.Update(i + 1);
    }
  }
  const double accuracy = static_cast<double>(score.right) / static_cast<double>(score.answers);
  if (options.json) {
    const nlohmann::json result = {{"task", task ? nlohmann::json(task->name()) : nlohmann::json()},
                                   {"lengths", {lengths.min, lengths.max}},
                                   {"sequences", options.sequences},
                                   {"tokens", score.letters},
                                   {"answers", score.answers},
                                   {"right", score.right},
                                   {"accuracy", accuracy}};
    fmt::print("{}\n", result.dump());
  } else {
    fmt::print("{}: {}, lengths {}:{}: accuracy {:.3f} ({} of {} answers, {} sequences, {} tokens)\n",
               options.path.string(), task ? task->name() : "its own language", lengths.min, lengths.max, accuracy,
               score.right, score.answers, options.sequences, score.letters);
  }
}

}  // namespace lrnn::cli
