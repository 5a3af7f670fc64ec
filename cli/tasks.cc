// lrnn tasks: what there is to learn, with examples.
#include <fmt/core.h>

#include "cli/arguments.h"
#include "cli/commands.h"
#include "lrnn/tasks/batch.h"
#include "lrnn/tasks/registry.h"

namespace lrnn::cli {
namespace {

struct Options {
  std::string show;
  int64_t samples = 5;
  std::string lengths = "3:12";
  uint64_t seed = 0;
};

void ListTasks() {
  fmt::print("{:<24} {:>6} {:>7}  {}\n", "task", "tokens", "chance", "");
  for (const auto& task : Tasks()) {
    fmt::print("{:<24} {:>6} {:>7.3f}  {}\n", task->name(), task->vocab_size(), task->chance(), task->summary());
  }
}

void ShowTask(const Options& options) {
  const Task& task = FindTask(options.show);
  const auto symbols = task.symbols();
  const Lengths lengths = ParseLengths(options.lengths);
  const Batch batch = MakeBatch(task, {lengths.min, lengths.max}, options.seed, 0, options.samples, 1);
  fmt::print("{}: {}\n", task.name(), task.summary());
  size_t target = 0;
  for (int64_t i = 0; i < options.samples; ++i) {
    std::string line;
    for (int64_t row = batch.cu_seqlens[i]; row < batch.cu_seqlens[i + 1]; ++row) {
      line += symbols[batch.tokens[row]] + " ";
      if (target < batch.rows.size() && batch.rows[target] == row)
        line += "-> " + symbols[batch.targets[target++]] + " ";
    }
    fmt::print("  {}\n", line);
  }
}

}  // namespace

void AddTasks(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("tasks", "list the tasks, or show examples of one");
  command->add_option("--show", options->show, "print examples of this task: the tokens read, and -> what to predict");
  command->add_option("--samples", options->samples, "how many examples")
      ->capture_default_str()
      ->check(CLI::Range(1, 100000));
  command->add_option("--lengths", options->lengths, "their lengths, the answer counted")->capture_default_str();
  command->add_option("--seed", options->seed, "which examples")->capture_default_str();
  command->callback([options] { options->show.empty() ? ListTasks() : ShowTask(*options); });
}

}  // namespace lrnn::cli
