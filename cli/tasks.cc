// lrnn tasks: what there is to learn, with examples.
#include <fmt/core.h>

#include <algorithm>

#include "cli/arguments.h"
#include "cli/commands.h"
#include "lrnn/tasks/registry.h"

namespace lrnn::cli {
namespace {

constexpr size_t kLineWidth = 100;

struct Options {
  std::string show;
  std::vector<std::string> parameters;
  std::string length;
  int64_t count = 5;
  uint64_t seed = 0;
};

const char* Name(Score score) { return score == Score::kTokens ? "tokens" : "sequence"; }

void ListTasks() {
  fmt::print("{:<28} {:>6} {:>7} {:<9} {}\n", "task", "tokens", "chance", "score", "");
  for (const TaskInfo& info : Tasks()) {
    std::string tokens = "-", chance = "-", score = "-";
    if (!info.NeedsParameters()) {
      const auto task = MakeTask(info.name);
      tokens = fmt::format("{}", task->vocab_size());
      chance = fmt::format("{:.3f}", task->chance());
      score = Name(task->score());
    }
    fmt::print("{:<28} {:>6} {:>7} {:<9} {}\n", info.name, tokens, chance, score, info.summary);
  }
  fmt::print("\nExamples and parameters of a task: lrnn tasks --show NAME [--set PARAMETER=VALUE]\n");
}

// Characters of UTF-8, taken as columns of a terminal.
size_t Width(const std::string& text) {
  return std::count_if(text.begin(), text.end(), [](char byte) { return (byte & 0xC0) != 0x80; });
}

// The tokens and, under each, what should be predicted there; folded where a line is full.
void PrintExample(const std::vector<std::string>& symbols, const Example& example) {
  std::string read, predict;
  const auto print = [&] {
    const auto trimmed = [](const std::string& line) { return line.substr(0, line.find_last_not_of(' ') + 1); };
    fmt::print("  read    {}\n", trimmed(read));
    if (!trimmed(predict).empty()) fmt::print("  predict {}\n", trimmed(predict));
    read.clear();
    predict.clear();
  };
  for (size_t i = 0; i < example.tokens.size(); ++i) {
    const std::string& token = symbols[example.tokens[i]];
    const std::string target = example.targets[i] == kNoTarget ? "" : symbols[example.targets[i]];
    const size_t width = std::max(Width(token), Width(target));
    if (!read.empty() && Width(read) + 1 + width > kLineWidth) print();
    if (!read.empty()) {
      read += ' ';
      predict += ' ';
    }
    read += token + std::string(width - Width(token), ' ');
    predict += target + std::string(width - Width(target), ' ');
  }
  print();
}

void ShowTask(const Options& options) {
  const TaskInfo& info = FindTask(options.show);
  const auto task = MakeTask(info.name, ParseTaskParameters(info, options.parameters));
  LengthRange lengths{std::max<int64_t>(3, task->min_length()), 12};
  if (!options.length.empty()) {
    const Lengths given = ParseLengths(options.length);
    lengths = {given.min, given.max};
  }
  CheckLengths(*task, lengths);

  const auto symbols = task->symbols();
  fmt::print("{}: {}\n", info.name, info.summary);
  fmt::print("{} tokens, chance {:.3f}, right by {}\n", symbols.size(), task->chance(), Name(task->score()));
  for (const TaskParameter& parameter : info.parameters) {
    fmt::print("  {:<15} {:<12} {}\n", parameter.name,
               parameter.value.is_null() ? std::string("(required)") : parameter.value.dump(), parameter.help);
  }
  for (int64_t i = 0; i < options.count; ++i) {
    Rng rng(options.seed, static_cast<uint64_t>(i));
    const int64_t length = task->DrawLength(lengths, rng);
    const Example example = ReadExample(*task, length, rng);
    fmt::print("\nexample {}, length {}\n", i, length);
    PrintExample(symbols, example);
    const std::string explanation = task->Explain(example.tokens);
    if (!explanation.empty()) fmt::print("  value   {}\n", explanation);
  }
}

}  // namespace

void AddTasks(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("tasks", "list the tasks, or show examples of one");
  command->footer(
      "  lrnn tasks --show modular_arithmetic --length 9\n"
      "  lrnn tasks --show group --set group=S3 --set bos=false --length 6 --count 2");
  command->add_option("--show", options->show,
                      "print this task's parameters, and examples: the tokens read and, under them, what to predict");
  command->add_option("--set", options->parameters, "a parameter of the task: PARAMETER=VALUE (repeatable)");
  command->add_option("--length,--lengths", options->length,
                      "of the examples: a length, or SHORTEST:LONGEST; default 3:12");
  command->add_option("--count", options->count, "how many examples")
      ->capture_default_str()
      ->check(CLI::Range(0, 100000));
  command->add_option("--seed", options->seed, "which examples")->capture_default_str();
  command->callback([options] { options->show.empty() ? ListTasks() : ShowTask(*options); });
}

}  // namespace lrnn::cli
