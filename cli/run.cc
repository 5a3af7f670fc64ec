// lrnn run: a model over a stream of tokens, without torch.
#include <fmt/core.h>

#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/arguments.h"
#include "cli/commands.h"
#include "lrnn/runtime/model.h"

namespace lrnn::cli {
namespace {

struct Options {
  std::string model;
  std::vector<std::string> words;
  bool json = false;
};

class Printer {
 public:
  Printer(const Vocabulary& vocabulary, bool json) : vocabulary_(vocabulary), json_(json) {}

  void Add(int32_t token, std::span<const float> logits) {
    const auto best = std::max_element(logits.begin(), logits.end()) - logits.begin();
    const std::string prediction = vocabulary_.Name(static_cast<int32_t>(best));
    if (json_) {
      line_["tokens"].push_back(vocabulary_.Name(token));
      line_["predictions"].push_back(prediction);
      line_["logits"] = std::vector<float>(logits.begin(), logits.end());
    } else {
      fmt::print("{}{}", started_ ? " " : "", prediction);
      std::fflush(stdout);
    }
    started_ = true;
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
  const Vocabulary& vocabulary_;
  bool json_;
  bool started_ = false;
  nlohmann::json line_ = nlohmann::json::object();
};

void RunModel(const Options& options) {
  const RuntimeModel model = RuntimeModel::Load(ModelPath(options.model));
  const auto session = model.NewSession();
  Printer printer(model.vocabulary(), options.json);
  const auto feed = [&](const std::string& word) {
    for (int32_t token : model.vocabulary().Parse(word)) printer.Add(token, session->Step(token));
  };
  for (const std::string& word : options.words) {
    session->Reset();
    feed(word);
    printer.EndSequence();
  }
  if (!options.words.empty()) return;

  // A line is a sequence; its tokens are answered as they come.
  std::string word;
  bool any = false;
  for (int c = std::cin.get(); c != EOF; c = std::cin.get()) {
    if (!std::isspace(c)) {
      word += static_cast<char>(c);
      continue;
    }
    if (!word.empty()) feed(std::exchange(word, "")), any = true;
    if (c == '\n' && any) {
      printer.EndSequence();
      session->Reset();
      any = false;
    }
  }
  if (!word.empty()) feed(word), any = true;
  if (any) printer.EndSequence();
}

}  // namespace

void AddRun(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("run", "feed tokens to a model, print what it predicts after each");
  command->footer(
      "A word is a symbol of the model's vocabulary, or several one-letter symbols together, or a token's number.\n"
      "Without words the tokens come from standard input, a sequence on each line, and are answered as they come;\n"
      "the memory used does not grow with the length of a sequence.\n\n"
      "  lrnn run runs/mine 1011 0110\n"
      "  echo 1 0 1 1 | lrnn run runs/mine --json");
  command->add_option("MODEL", options->model, "a run, or a model directory")->required();
  command->add_option("WORD", options->words, "sequences, each on its own");
  command->add_flag("--json", options->json, "a JSON object for each sequence: tokens, predictions, the last logits");
  command->callback([options] { RunModel(*options); });
}

}  // namespace lrnn::cli
