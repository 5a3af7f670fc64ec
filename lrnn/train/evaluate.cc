#include "lrnn/train/evaluate.h"

#include <algorithm>

#include "lrnn/base/error.h"
#include "lrnn/base/progress.h"
#include "lrnn/base/timer.h"

namespace lrnn {
namespace {

// One group of sequences, read side by side to their ends.
class Group {
 public:
  Group(const Task& task, const EvaluateOptions& options, int64_t first, int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      Rng rng(options.seed, static_cast<uint64_t>(first + i));
      lengths_.push_back(task.DrawLength(options.lengths, rng));
      left_.push_back(task.tokens(lengths_.back()));
      streams_.push_back(task.Open(lengths_.back(), rng));
    }
  }

  bool AtEnd() const {
    return std::all_of(left_.begin(), left_.end(), [](int64_t left) { return left == 0; });
  }

  // Feeds the next chunk of every sequence; ended sequences are empty in it. Returns the tokens fed.
  int64_t Advance(Model& model, int64_t chunk, Evaluation& result, double& loss_sum) {
    std::vector<int64_t> counts, rows, targets, lengths;
    std::vector<int32_t> tokens, labels;
    for (size_t i = 0; i < streams_.size(); ++i) {
      const int64_t count = std::min(chunk, left_[i]);
      const size_t begin = tokens.size();
      tokens.resize(begin + count);
      labels.resize(begin + count);
      streams_[i]->Read(std::span(tokens).subspan(begin), std::span(labels).subspan(begin));
      for (size_t row = begin; row < tokens.size(); ++row) {
        if (labels[row] == kNoTarget) continue;
        rows.push_back(static_cast<int64_t>(row));
        targets.push_back(labels[row]);
        lengths.push_back(lengths_[i]);
      }
      left_[i] -= count;
      counts.push_back(count);
    }
    const auto sequences = ops::Sequences::FromLengths(counts);
    const torch::Tensor logits =
        model->forward(torch::tensor(tokens, torch::kInt64), sequences, torch::tensor(rows, torch::kInt64), &state_);
    if (!rows.empty()) {
      const torch::Tensor expected = torch::tensor(targets, torch::kInt64);
      loss_sum += torch::nn::functional::cross_entropy(
                      logits, expected, torch::nn::functional::CrossEntropyFuncOptions().reduction(torch::kSum))
                      .item<double>();
      const torch::Tensor right = logits.argmax(1).eq(expected).to(torch::kInt64);
      for (size_t i = 0; i < rows.size(); ++i) {
        LengthScore& score = result.by_length[lengths[i]];
        ++score.targets;
        score.correct += right[static_cast<int64_t>(i)].item<int64_t>();
      }
    }
    return sequences.tokens();
  }

 private:
  std::vector<int64_t> lengths_, left_;
  std::vector<std::unique_ptr<ExampleStream>> streams_;
  ModelState state_;
};

}  // namespace

LengthScore Evaluation::total() const {
  LengthScore sum;
  for (const auto& [length, score] : by_length) {
    sum.targets += score.targets;
    sum.correct += score.correct;
  }
  return sum;
}

double Evaluation::accuracy() const {
  return static_cast<double>(total().correct) / static_cast<double>(total().targets);
}

Evaluation Evaluate(Model& model, const Task& task, const EvaluateOptions& options) {
  LRNN_CHECK(task.min_length() <= options.lengths.min && options.lengths.min <= options.lengths.max,
             "[evaluate] expected lengths from {} on for task {}, got {}:{}", task.min_length(), task.name(),
             options.lengths.min, options.lengths.max);
  LRNN_CHECK(options.sequences > 0, "[evaluate] expected at least one sequence, got {}", options.sequences);
  LRNN_CHECK(model->vocab_size() >= task.vocab_size(),
             "[evaluate] expected a model with the {} tokens of task {}, got {}", task.vocab_size(), task.name(),
             model->vocab_size());
  torch::NoGradGuard no_grad;
  Evaluation result{options, task.chance(), {}, 0, 0, 0};
  double loss_sum = 0;
  const Timer timer;
  Progress progress({.label = options.label, .total = options.sequences, .unit = "sequences", .out = options.progress});
  for (int64_t first = 0; first < options.sequences; first += options.together) {
    const int64_t count = std::min(options.together, options.sequences - first);
    Group group(task.held_out(), options, first, count);
    while (!group.AtEnd()) {
      result.tokens += group.Advance(model, options.chunk, result, loss_sum);
      progress.Update(first);
    }
    progress.Set("scaled accuracy", result.scaled_accuracy());
    progress.Update(first + count);
  }
  result.seconds = timer.Seconds();
  result.loss = loss_sum / static_cast<double>(result.total().targets);
  return result;
}

nlohmann::json ToJson(const Evaluation& evaluation) {
  const LengthScore total = evaluation.total();
  const Interval interval = WilsonInterval(total.correct, total.targets);
  nlohmann::json by_length = nlohmann::json::array();
  for (const auto& [length, score] : evaluation.by_length) {
    by_length.push_back({{"length", length}, {"sequences", score.targets}, {"correct", score.correct}});
  }
  const EvaluateOptions& options = evaluation.options;
  return {{"lengths", {options.lengths.min, options.lengths.max}},
          {"sequences", options.sequences},
          {"seed", options.seed},
          {"streamed", options.lengths.max - 1 > options.chunk},
          {"loss", evaluation.loss},
          {"accuracy", evaluation.accuracy()},
          {"scaled_accuracy", evaluation.scaled_accuracy()},
          {"low", ScaledAccuracy(interval.low, evaluation.chance)},
          {"high", ScaledAccuracy(interval.high, evaluation.chance)},
          {"by_length", by_length},
          {"tokens", evaluation.tokens},
          {"seconds", evaluation.seconds}};
}

}  // namespace lrnn
