#include "lrnn/tasks/task.h"

#include "lrnn/base/error.h"

namespace lrnn {

void ExampleStream::Read(std::span<int32_t> tokens, std::span<int32_t> targets) {
  LRNN_CHECK(tokens.size() == targets.size(), "[ExampleStream::Read] expected as many targets as the {} tokens, got {}",
             tokens.size(), targets.size());
  LRNN_CHECK(static_cast<int64_t>(tokens.size()) <= left_,
             "[ExampleStream::Read] expected to read at most {} more tokens, got {}", left_, tokens.size());
  for (size_t i = 0; i < tokens.size(); ++i) {
    --left_;
    const Position position = Next();
    tokens[i] = position.token;
    targets[i] = position.target;
  }
}

std::unique_ptr<ExampleStream> Task::Open(int64_t length, Rng rng) const {
  LRNN_CHECK(length >= min_length(), "[{}] expected a length of at least {}, got {}", name(), min_length(), length);
  LRNN_CHECK(length <= max_length(),
             "[{}] expected a length of at most {} (the whole example is held in memory), got {}", name(), max_length(),
             length);
  return Start(length, rng);
}

Example ReadExample(const Task& task, int64_t length, Rng rng) {
  const auto stream = task.Open(length, rng);
  Example example{std::vector<int32_t>(task.tokens(length)), std::vector<int32_t>(task.tokens(length))};
  stream->Read(example.tokens, example.targets);
  return example;
}

void CheckLengths(const Task& task, LengthRange lengths) {
  LRNN_CHECK(task.min_length() <= lengths.min && lengths.min <= lengths.max && lengths.max <= task.max_length(),
             "expected lengths from {} {} for task {}, got {}:{}", task.min_length(),
             task.max_length() == Task::kNoLimit ? std::string("on") : fmt::format("to {}", task.max_length()),
             task.name(), lengths.min, lengths.max);
  Rng rng(0, 0);
  task.DrawLength(lengths, rng);
}

}  // namespace lrnn
