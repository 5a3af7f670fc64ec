#include "lrnn/train/evaluate.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "lrnn/base/error.h"
#include "lrnn/base/progress.h"
#include "lrnn/base/timer.h"
#include "lrnn/ops/linear.h"

namespace lrnn {
namespace {

constexpr int64_t kEachPosition = 1000;   // up to here by_position has every length,
constexpr double kPositionGrowth = 1.02;  // then lengths that grow by this factor

struct SequenceScore {
  int64_t length;
  int64_t tokens;
  int64_t targets = 0;
  int64_t right = 0;
  int64_t right_until = 0;  // tokens before the first wrong prediction; all of them when there is none
};

// One group of sequences, read side by side to their ends.
class Group {
 public:
  Group(const Task& task, const EvaluateOptions& options, int64_t first, int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      Rng rng(options.seed, static_cast<uint64_t>(first + i));
      const int64_t length = task.DrawLength(options.lengths, rng), tokens = task.tokens(length);
      scores_.push_back({.length = length, .tokens = tokens, .right_until = tokens});
      left_.push_back(tokens);
      streams_.push_back(task.Open(length, rng));
    }
  }

  bool AtEnd() const {
    return std::all_of(left_.begin(), left_.end(), [](int64_t left) { return left == 0; });
  }

  // Feeds the next chunk of every sequence; ended sequences are empty in it. Returns the tokens fed.
  int64_t Advance(Model& model, int64_t chunk, double& loss_sum) {
    std::vector<int64_t> counts, rows, targets, owners, positions;
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
        owners.push_back(static_cast<int64_t>(i));
        positions.push_back(scores_[i].tokens - left_[i] + static_cast<int64_t>(row - begin));
      }
      left_[i] -= count;
      counts.push_back(count);
    }
    const auto sequences = ops::Sequences::FromLengths(counts);
    const torch::Tensor logits =
        model->forward(torch::tensor(tokens, torch::kInt64), sequences, torch::tensor(rows, torch::kInt64), &state_);
    if (!rows.empty()) {
      const torch::Tensor expected = torch::tensor(targets, torch::kInt64);
      loss_sum += torch::cross_entropy_loss(logits, expected, /*weight=*/{}, at::Reduction::Sum).item<double>();
      const torch::Tensor right = logits.argmax(1).eq(expected);
      for (size_t i = 0; i < rows.size(); ++i) Count(scores_[owners[i]], positions[i], right.data_ptr<bool>()[i]);
    }
    return sequences.tokens();
  }

  const std::vector<SequenceScore>& scores() const { return scores_; }

 private:
  static void Count(SequenceScore& score, int64_t position, bool is_right) {
    ++score.targets;
    score.right += is_right;
    if (!is_right) score.right_until = std::min(score.right_until, position);
  }

  std::vector<SequenceScore> scores_;
  std::vector<int64_t> left_;
  std::vector<std::unique_ptr<ExampleStream>> streams_;
  ModelState state_;
};

std::vector<PrefixScore> PrefixCurve(const Task& task, const std::vector<SequenceScore>& scores) {
  std::vector<int64_t> ends, right_until;
  int64_t longest = 0;
  for (const SequenceScore& score : scores) {
    ends.push_back(score.tokens);
    right_until.push_back(score.right_until);
    longest = std::max(longest, score.length);
  }
  std::sort(ends.begin(), ends.end());
  std::sort(right_until.begin(), right_until.end());
  const auto at_least = [](const std::vector<int64_t>& sorted, int64_t tokens) {
    return sorted.end() - std::lower_bound(sorted.begin(), sorted.end(), tokens);
  };
  std::vector<PrefixScore> curve;
  for (int64_t length = task.min_length(); length <= longest;) {
    const int64_t tokens = task.tokens(length);
    curve.push_back({length, at_least(ends, tokens), at_least(right_until, tokens)});
    if (length == longest) break;
    const int64_t farther = std::llround(static_cast<double>(length) * kPositionGrowth);
    length = length < kEachPosition ? length + 1 : std::min(longest, farther);
  }
  return curve;
}

void CheckArguments(Model& model, const Task& task, const EvaluateOptions& options) {
  CheckLengths(task.held_out(), options.lengths);
  LRNN_CHECK(options.sequences > 0, "[evaluate] expected at least one sequence, got {}", options.sequences);
  LRNN_CHECK(model->vocab_size() >= task.vocab_size(),
             "[evaluate] expected a model with the {} tokens of task {}, got {}", task.vocab_size(), task.name(),
             model->vocab_size());
}

}  // namespace

std::string Name(Score score) { return score == Score::kTokens ? "tokens" : "sequence"; }

double LengthScore::accuracy(Score score) const {
  return score == Score::kTokens ? static_cast<double>(right_targets) / static_cast<double>(targets)
                                 : static_cast<double>(right_sequences) / static_cast<double>(sequences);
}

LengthScore Evaluation::total() const {
  LengthScore sum;
  for (const auto& [length, score] : by_length) {
    sum.sequences += score.sequences;
    sum.right_sequences += score.right_sequences;
    sum.targets += score.targets;
    sum.right_targets += score.right_targets;
  }
  return sum;
}

Interval AccuracyInterval(double accuracy, int64_t sequences) {
  return WilsonInterval(std::llround(accuracy * static_cast<double>(sequences)), sequences);
}

Interval Evaluation::interval() const { return AccuracyInterval(accuracy(), total().sequences); }

Evaluation Evaluate(Model& model, const Task& task, const EvaluateOptions& options) {
  CheckArguments(model, task, options);
  model->eval();
  torch::NoGradGuard no_grad;
  const ops::RoundLinearToBf16 rounding(options.precision == Precision::kBfloat16);
  Evaluation result{options, task.chance(), task.score(), {}, {}, 0, 0, 0};
  std::vector<SequenceScore> scores;
  double loss_sum = 0;
  const Timer timer;
  Progress progress({.label = options.label, .total = options.sequences, .unit = "sequences", .out = options.progress});
  for (int64_t first = 0; first < options.sequences; first += options.together) {
    const int64_t count = std::min(options.together, options.sequences - first);
    Group group(task.held_out(), options, first, count);
    while (!group.AtEnd()) {
      result.tokens += group.Advance(model, options.chunk, loss_sum);
      progress.Update(first);
    }
    for (const SequenceScore& each : group.scores()) {
      scores.push_back(each);
      LengthScore& score = result.by_length[each.length];
      ++score.sequences;
      score.right_sequences += each.right == each.targets;
      score.targets += each.targets;
      score.right_targets += each.right;
    }
    progress.Set("scaled accuracy", result.scaled_accuracy());
    progress.Update(first + count);
  }
  result.seconds = timer.Seconds();
  result.loss = loss_sum / static_cast<double>(result.total().targets);
  if (result.score == Score::kSequence) result.by_position = PrefixCurve(task.held_out(), scores);
  return result;
}

nlohmann::json ToJson(const Evaluation& evaluation) {
  const LengthScore total = evaluation.total();
  const Interval interval = evaluation.interval();
  nlohmann::json by_length = nlohmann::json::array();
  for (const auto& [length, score] : evaluation.by_length) {
    by_length.push_back({{"length", length},
                         {"sequences", score.sequences},
                         {"correct", score.right_sequences},
                         {"targets", score.targets},
                         {"correct_targets", score.right_targets},
                         {"accuracy", score.accuracy(evaluation.score)}});
  }
  const EvaluateOptions& options = evaluation.options;
  nlohmann::json json = {{"lengths", {options.lengths.min, options.lengths.max}},
                         {"sequences", options.sequences},
                         {"seed", options.seed},
                         {"streamed", options.lengths.max - 1 > options.chunk},
                         {"precision", Name(options.precision)},
                         {"score", Name(evaluation.score)},
                         {"loss", evaluation.loss},
                         {"accuracy", evaluation.accuracy()},
                         {"token_accuracy", total.accuracy(Score::kTokens)},
                         {"sequence_accuracy", total.accuracy(Score::kSequence)},
                         {"scaled_accuracy", evaluation.scaled_accuracy()},
                         {"low", ScaledAccuracy(interval.low, evaluation.chance)},
                         {"high", ScaledAccuracy(interval.high, evaluation.chance)},
                         {"by_length", by_length},
                         {"tokens", evaluation.tokens},
                         {"seconds", evaluation.seconds}};
  if (evaluation.score == Score::kSequence) {
    json["by_position"] = nlohmann::json::array();
    for (const PrefixScore& point : evaluation.by_position) {
      const Interval range = WilsonInterval(point.correct, point.sequences);
      json["by_position"].push_back({{"length", point.length},
                                     {"sequences", point.sequences},
                                     {"correct", point.correct},
                                     {"accuracy", static_cast<double>(point.correct) / point.sequences},
                                     {"low", range.low},
                                     {"high", range.high}});
    }
  }
  return json;
}

}  // namespace lrnn
