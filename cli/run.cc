// lrnn run: a model over a stream of tokens, without torch.
#include <fmt/core.h>

#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/random_letters.h"
#include "lrnn/base/error.h"
#include "lrnn/runtime/automaton_files.h"
#include "lrnn/runtime/automaton_model.h"
#include "lrnn/runtime/model.h"

namespace lrnn::cli {
namespace {

struct Options {
  std::string model;
  std::vector<std::string> words;
  int64_t random = 0;
  uint64_t seed = 1;
  bool json = false;
};

// What a sequence's tokens were answered with: words on a line, or a JSON object.
class Printer {
 public:
  explicit Printer(bool json) : json_(json) {}

  void Add(const std::string& token, const std::string& prediction) {
    if (json_) {
      line_["tokens"].push_back(token);
      line_["predictions"].push_back(prediction);
    } else {
      fmt::print("{}{}", started_ ? " " : "", prediction);
      std::fflush(stdout);
    }
    started_ = true;
  }

  // A field of the JSON object.
  void Set(const std::string& name, const nlohmann::json& value) {
    if (json_) line_[name] = value;
  }

  void EndSequence() {
    if (json_) {
      fmt::print("{}\n", line_.dump());
      line_.clear();
    } else {
      fmt::print("\n");
    }
    std::fflush(stdout);
    started_ = false;
  }

 private:
  bool json_;
  bool started_ = false;
  nlohmann::json line_ = nlohmann::json::object();
};

// Calls feed(word) for each word, and end() after each sequence: of the arguments, or of the lines of standard input,
// whose words are fed as they come.
template <typename Feed, typename End>
void ForEachWord(const std::vector<std::string>& words, const Feed& feed, const End& end) {
  for (const std::string& word : words) {
    feed(word);
    end();
  }
  if (!words.empty()) return;
  std::string word;
  bool any = false;
  for (int c = std::cin.get(); c != EOF; c = std::cin.get()) {
    if (!std::isspace(c)) {
      word += static_cast<char>(c);
      continue;
    }
    if (!word.empty()) feed(std::exchange(word, "")), any = true;
    if (c == '\n' && any) {
      end();
      any = false;
    }
  }
  if (!word.empty()) feed(word), any = true;
  if (any) end();
}

void RunTrained(const Options& options, const std::filesystem::path& path) {
  const RuntimeModel model = RuntimeModel::Load(path);
  const Vocabulary& vocabulary = model.vocabulary();
  const auto session = model.NewSession();
  Printer printer(options.json);
  ForEachWord(
      options.words,
      [&](const std::string& word) {
        for (const int32_t token : vocabulary.Parse(word)) {
          const std::span<const float> logits = session->Step(token);
          const auto best = std::max_element(logits.begin(), logits.end()) - logits.begin();
          printer.Add(vocabulary.Name(token), vocabulary.Name(static_cast<int32_t>(best)));
          if (options.json) printer.Set("logits", std::vector<float>(logits.begin(), logits.end()));
        }
      },
      [&] {
        printer.EndSequence();
        session->Reset();
      });
}

// A compiled automaton says after each letter whether it accepts, or which state it is in.
void RunAutomaton(const Options& options, const std::filesystem::path& path) {
  const AutomatonModel model = AutomatonModel::Load(path);
  AutomatonSession session = model.NewSession();
  Printer printer(options.json);
  ForEachWord(
      options.words,
      [&](const std::string& word) {
        for (const int32_t letter : model.vocabulary().Parse(word)) {
          const int state = session.Step(letter);
          const std::string answer = session.accepting() ? "accept" : "reject";
          printer.Add(model.vocabulary().Name(letter), model.network().outputs_states ? std::to_string(state) : answer);
        }
      },
      [&] {
        printer.Set("state", session.state());
        printer.Set("accepting", session.accepting());
        printer.EndSequence();
        session.Reset();
      });
}

void RunModel(const Options& options) {
  const std::filesystem::path path = ModelPath(options.model);
  const bool is_automaton = IsAutomaton(ModelDirectory::Open(path));
  if (options.random > 0) {
    LRNN_CHECK(is_automaton, "--random: {} is no compiled automaton to compare with", options.model);
    return RunRandomLetters(path, options.random, options.seed, options.json);
  }
  is_automaton ? RunAutomaton(options, path) : RunTrained(options, path);
}

}  // namespace

void AddRun(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("run", "feed tokens to a model, print what it predicts after each");
  command->footer(
      "A word is a symbol of the model's vocabulary, or several one-letter symbols together, or a token's number.\n"
      "Without words the tokens come from standard input, a sequence on each line, and are answered as they come;\n"
      "the memory used does not grow with the length of a sequence. A compiled automaton answers whether it accepts,\n"
      "or, made of a group, with its state.\n\n"
      "  lrnn run runs/mine 1011 0110\n"
      "  echo 1 0 1 1 | lrnn run runs/mine --json\n"
      "  lrnn run m --random 100000000       # a compiled automaton: its speed, and any error");
  command->add_option("MODEL", options->model, "a run, or a model directory")->required();
  command->add_option("WORD", options->words, "sequences, each on its own");
  command->add_flag("--json", options->json, "a JSON object for each sequence: tokens, predictions, the last logits");
  command
      ->add_option("--random", options->random,
                   "instead of words: so many random letters, every state compared with the automaton's")
      ->check(CLI::PositiveNumber)
      ->excludes("WORD");
  command->add_option("--seed", options->seed, "of the random letters")->capture_default_str();
  command->callback([options] { RunModel(*options); });
}

}  // namespace lrnn::cli
