#include "lrnn/tasks/question.h"

#include <algorithm>

namespace lrnn {
namespace {

class QuestionStream : public ExampleStream {
 public:
  QuestionStream(Question question, int64_t slots, int32_t out)
      : ExampleStream(static_cast<int64_t>(question.tokens.size()) + slots),
        question_(std::move(question)),
        out_(out) {}

 private:
  Position Next() override {
    const size_t at = at_++, asked = question_.tokens.size();
    if (at < asked) return {question_.tokens[at]};
    return {out_, at - asked < question_.answer.size() ? question_.answer[at - asked] : kNoTarget};
  }

  Question question_;
  int32_t out_;
  size_t at_ = 0;
};

class AskedTask : public Task {
 public:
  explicit AskedTask(QuestionTask task) : task_(std::move(task)), out_(static_cast<int32_t>(task_.symbols.size())) {
    task_.symbols.push_back("<out>");
  }

  std::string name() const override { return task_.name; }
  std::vector<std::string> symbols() const override { return task_.symbols; }
  double chance() const override { return task_.chance; }
  int64_t min_length() const override { return task_.min_length; }
  int64_t max_length() const override { return task_.max_length; }
  int64_t tokens(int64_t length) const override { return length + task_.slots(length); }

  std::string Explain(std::span<const int32_t> tokens) const override {
    return task_.explain ? task_.explain(tokens.first(std::find(tokens.begin(), tokens.end(), out_) - tokens.begin()))
                         : "";
  }

 protected:
  std::unique_ptr<ExampleStream> Start(int64_t length, Rng rng) const override {
    return std::make_unique<QuestionStream>(task_.draw(length, rng), task_.slots(length), out_);
  }

 private:
  QuestionTask task_;
  int32_t out_;
};

}  // namespace

std::unique_ptr<Task> MakeQuestionTask(QuestionTask task) { return std::make_unique<AskedTask>(std::move(task)); }

}  // namespace lrnn
