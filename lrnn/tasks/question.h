// Tasks that are a question followed by room for its answer, as in Delétang et al.: the model reads the symbols of the
// question and then one <out> for each symbol of the answer, where it predicts that symbol.
//
// `length` counts the symbols of the question. The answer depends on all of them, so an example is held in memory, and
// lengths are limited.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "lrnn/tasks/task.h"

namespace lrnn {

constexpr int64_t kLongestQuestion = 1 << 20;

struct Question {
  std::vector<int32_t> tokens;
  std::vector<int32_t> answer;
};

struct QuestionTask {
  std::string name;
  std::vector<std::string> symbols;  // <out> is added
  double chance;
  int64_t min_length = 1;
  int64_t max_length = kLongestQuestion;
  std::function<int64_t(int64_t length)> slots;            // how often <out> is read: the longest answer
  std::function<Question(int64_t length, Rng& rng)> draw;  // slots after the end of its answer have no target
  std::function<std::string(std::span<const int32_t> question)> explain = {};
};

std::unique_ptr<Task> MakeQuestionTask(QuestionTask task);

}  // namespace lrnn
