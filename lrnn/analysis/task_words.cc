#include "lrnn/analysis/task_words.h"

#include <algorithm>

#include "lrnn/base/error.h"

namespace lrnn {

std::vector<int> TaskWord(const Task& task, const TokenAutomaton& truth, int64_t letters, Rng rng) {
  // Whatever a task counts: its examples have at least length - 1 tokens.
  const auto opening = static_cast<int64_t>(truth.opening.size());
  const Example example = ReadExample(task, letters + opening + 1, rng);
  LRNN_CHECK(static_cast<int64_t>(example.tokens.size()) >= opening + letters,
             "[task_words] expected examples of {} letters from task {}, got {} tokens", letters, task.name(),
             example.tokens.size());
  std::vector<int> word;
  for (int64_t t = opening; t < opening + letters; ++t) {
    const auto found = std::find(truth.tokens.begin(), truth.tokens.end(), example.tokens[t]);
    LRNN_CHECK(found != truth.tokens.end(), "[task_words] task {} draws token {}, which is no letter", task.name(),
               example.tokens[t]);
    word.push_back(static_cast<int>(found - truth.tokens.begin()));
  }
  return word;
}

}  // namespace lrnn
