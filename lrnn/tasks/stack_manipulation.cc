#include "lrnn/tasks/stack_manipulation.h"

#include <algorithm>

#include "lrnn/tasks/question.h"

namespace lrnn {
namespace {

enum Token : int32_t { kZero, kOne, kPop, kPush0, kPush1, kEnd };

Question Draw(int64_t length, Rng& rng) {
  Question question;
  std::vector<int32_t>& stack = question.answer;
  const int64_t bits = length == 1 ? 1 : rng.Between(1, length - 1);
  for (int64_t i = 0; i < bits; ++i) stack.push_back(static_cast<int32_t>(rng.Below(2)));
  question.tokens = stack;
  for (int64_t i = bits; i < length; ++i) {
    const int32_t action = kPop + static_cast<int32_t>(rng.Below(3));
    question.tokens.push_back(action);
    if (action != kPop) {
      stack.push_back(action - kPush0);
    } else if (!stack.empty()) {
      stack.pop_back();
    }
  }
  std::reverse(stack.begin(), stack.end());
  stack.push_back(kEnd);
  return question;
}

}  // namespace

TaskInfo StackManipulationInfo() {
  return {"stack_manipulation", "the stack after these actions, from top to bottom", {}, [](const TaskParameters&) {
            return MakeQuestionTask({.name = "stack_manipulation",
                                     .symbols = {"0", "1", "pop", "push0", "push1", "<end>"},
                                     .chance = 0.5,
                                     .slots = [](int64_t length) { return length + 1; },
                                     .draw = Draw});
          }};
}

}  // namespace lrnn
