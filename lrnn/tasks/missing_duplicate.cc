#include "lrnn/tasks/missing_duplicate.h"

#include "lrnn/tasks/question.h"

namespace lrnn {
namespace {

Question Draw(int64_t length, Rng& rng) {
  const int64_t half = length / 2;
  std::vector<int32_t> tokens(length, 3);
  for (int64_t i = 0; i < half; ++i) tokens[i] = tokens[half + i] = static_cast<int32_t>(rng.Below(2));
  int32_t& missing = tokens[rng.Between(0, 2 * half - 1)];
  const int32_t answer = missing;
  missing = 2;
  return {tokens, {answer}};
}

}  // namespace

TaskInfo MissingDuplicateInfo() {
  return {"missing_duplicate", "the symbol that is missing from a string written twice", {}, [](const TaskParameters&) {
            return MakeQuestionTask({.name = "missing_duplicate",
                                     .symbols = {"0", "1", "?", "<pad>"},
                                     .chance = 0.5,
                                     .min_length = 2,
                                     .slots = [](int64_t) { return 1; },
                                     .draw = Draw});
          }};
}

}  // namespace lrnn
