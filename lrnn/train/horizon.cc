#include "lrnn/train/horizon.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "lrnn/base/error.h"
#include "lrnn/base/progress.h"
#include "lrnn/base/timer.h"
#include "lrnn/ops/linear.h"

namespace lrnn {
namespace {

constexpr double kCheckpointGrowth = 1.122;    // twenty a decade
constexpr int64_t kFewestPredictions = 1000;   // of a checkpoint: one slip in ten is no fall to 0.9
constexpr int64_t kTokensOfALength = 1 << 18;  // tests of one length: so many tokens, at least `streams` sequences,
constexpr int64_t kSequencesOfALength = 1024;  // and at most so many
constexpr double kBisectionGrowth = 1.06;      // the horizon is found up to this factor

// Sequences read side by side, with the right answer at every position.
class Streams {
 public:
  Streams(const Task& task, int64_t count, int64_t max_length, uint64_t seed) : automaton_(task.automaton()) {
    for (int64_t i = 0; i < count; ++i) {
      streams_.push_back(task.Open(max_length, Rng(seed, static_cast<uint64_t>(i))));
      states_.push_back(automaton_ ? automaton_->dfa.start : 0);
    }
  }

  // Whether the task has an answer at every position: looks at one example.
  static bool Answers(const Task& task) {
    if (task.automaton()) return true;
    const Example example = ReadExample(task, std::min<int64_t>(task.min_length() + 31, task.max_length()), Rng(0, 0));
    return std::find(example.targets.begin(), example.targets.end(), kNoTarget) == example.targets.end();
  }

  // right[i * count + t]: whether stream i's prediction at its next token t is right.
  std::vector<bool> Advance(Model& model, int64_t count) {
    std::vector<int32_t> tokens(streams_.size() * count), answers(tokens.size());
    for (size_t i = 0; i < streams_.size(); ++i) {
      const std::span own = std::span(answers).subspan(i * count, count);
      streams_[i]->Read(std::span(tokens).subspan(i * count, count), own);
      if (!automaton_) continue;
      for (int64_t t = 0; t < count; ++t) {
        states_[i] = automaton_->dfa.next[tokens[i * count + t]][states_[i]];
        if (own[t] == kNoTarget) own[t] = automaton_->answers[states_[i]];
      }
    }
    const std::vector<int64_t> lengths(streams_.size(), count);
    const torch::Tensor said = model
                                   ->forward(torch::tensor(tokens, torch::kInt64), ops::Sequences::FromLengths(lengths),
                                             c10::nullopt, &model_state_)
                                   .argmax(1);
    std::vector<bool> right(tokens.size());
    for (size_t row = 0; row < right.size(); ++row) right[row] = said.data_ptr<int64_t>()[row] == answers[row];
    return right;
  }

 private:
  std::optional<TaskAutomaton> automaton_;
  std::vector<std::unique_ptr<ExampleStream>> streams_;
  std::vector<int> states_;
  ModelState model_state_;
};

int64_t Grow(int64_t length, double factor) {
  return std::max(length + 1, static_cast<int64_t>(std::llround(static_cast<double>(length) * factor)));
}

class EveryPosition {
 public:
  EveryPosition(const Task& task, Horizon& result)
      : result_(result),
        count_(result.options.streams),
        tokens_less_(result.from - task.tokens(result.from)),
        streams_(task, count_, result.max_length, result.options.seed),
        wrong_(count_, false) {}

  void Measure(Model& model, Progress& progress) {
    const int64_t tokens = result_.max_length - tokens_less_;
    window_begin_ = result_.from;
    window_end_ = NextCheckpoint(result_.from - 1);
    for (int64_t at = 0; at < tokens && !IsDecided();) {
      const int64_t count = std::min(result_.options.chunk, tokens - at);
      const std::vector<bool> right = streams_.Advance(model, count);
      for (int64_t t = 0; t < count; ++t) Judge(right, t, count, at + t + 1 + tokens_less_);
      at += count;
      result_.tokens += count * count_;
      if (!result_.checkpoints.empty()) progress.Set("accuracy", result_.checkpoints.back().accuracy);
      progress.Update(at + tokens_less_);
    }
    if (is_good_) result_.length = result_.max_length;
    result_.has_ended = !is_good_;
  }

 private:
  // Past twice the horizon nothing more is to be learned.
  bool IsDecided() const {
    return !is_good_ && !result_.checkpoints.empty() && result_.checkpoints.back().length >= 2 * result_.length;
  }

  int64_t NextCheckpoint(int64_t length) const {
    const int64_t positions = (kFewestPredictions + count_ - 1) / count_;
    const int64_t next = std::max(Grow(length, kCheckpointGrowth), length + positions);
    return next + positions > result_.max_length ? result_.max_length : next;
  }

  // The predictions of all streams at one length.
  void Judge(const std::vector<bool>& right, int64_t t, int64_t stride, int64_t length) {
    int64_t right_here = 0;
    for (int64_t i = 0; i < count_; ++i) {
      const bool is_right = right[i * stride + t];
      right_here += is_right;
      wrong_[i] = wrong_[i] || !is_right;
    }
    const bool by_tokens = result_.score == Score::kTokens;
    if (!by_tokens) {
      const int64_t exact = std::count(wrong_.begin(), wrong_.end(), false);
      if (is_good_ && IsTooLow(exact, count_)) {
        is_good_ = false;
        result_.length = length - 1;
      }
    }
    if (length < window_begin_) return;
    window_right_ += right_here;
    if (length < window_end_) return;
    const int64_t predictions = (length - window_begin_ + 1) * count_;
    const int64_t exact = std::count(wrong_.begin(), wrong_.end(), false);
    const double accuracy = by_tokens ? static_cast<double>(window_right_) / static_cast<double>(predictions)
                                      : static_cast<double>(exact) / static_cast<double>(count_);
    result_.checkpoints.push_back({length, accuracy, count_, predictions});
    if (by_tokens && is_good_) {
      is_good_ = !IsTooLow(window_right_, predictions);
      if (is_good_) result_.length = length;
    }
    window_right_ = 0;
    window_begin_ = length + 1;
    window_end_ = NextCheckpoint(length);
  }

  bool IsTooLow(int64_t right, int64_t of) const {
    return static_cast<double>(right) < result_.options.accuracy * static_cast<double>(of);
  }

  Horizon& result_;
  int64_t count_;
  int64_t tokens_less_;  // a length, less the tokens that are read for it
  Streams streams_;
  std::vector<bool> wrong_;  // streams with a wrong prediction
  int64_t window_begin_ = 0, window_end_ = 0, window_right_ = 0;
  bool is_good_ = true;
};

// Whether the accuracy at one length is high enough.
bool IsGoodAt(Model& model, const Task& task, int64_t length, Horizon& result) {
  const HorizonOptions& options = result.options;
  const int64_t sequences =
      std::max(options.streams, std::min(kSequencesOfALength, kTokensOfALength / std::max<int64_t>(1, length)));
  const Evaluation evaluation = Evaluate(model, task,
                                         {.lengths = {length, length},
                                          .sequences = sequences,
                                          .seed = options.seed,
                                          .chunk = options.chunk,
                                          .precision = options.precision});
  result.tokens += evaluation.tokens;
  result.checkpoints.push_back({length, evaluation.accuracy(), sequences, evaluation.total().targets});
  return evaluation.accuracy() >= options.accuracy;
}

void MeasureLengthByLength(Model& model, const Task& task, Horizon& result, Progress& progress) {
  int64_t good = 0, bad = result.from;
  const auto test = [&](int64_t length) {
    const bool is_good = IsGoodAt(model, task, length, result);
    progress.Set("accuracy", result.checkpoints.back().accuracy);
    progress.Update(length);
    return is_good;
  };
  while (test(bad)) {
    good = bad;
    if (good == result.max_length) break;
    bad = std::min(2 * good, result.max_length);
  }
  result.has_ended = good < result.max_length;
  while (result.has_ended && good > 0 && bad > Grow(good, kBisectionGrowth)) {
    const int64_t middle = std::llround(std::sqrt(static_cast<double>(good) * static_cast<double>(bad)));
    (test(middle) ? good : bad) = middle;
  }
  result.length = good;
  std::sort(result.checkpoints.begin(), result.checkpoints.end(),
            [](const HorizonPoint& a, const HorizonPoint& b) { return a.length < b.length; });
}

}  // namespace

Horizon MeasureHorizon(Model& model, const Task& any_task, const HorizonOptions& options) {
  const Task& task = any_task.held_out();
  const int64_t from = std::max(options.from, task.min_length());
  const int64_t max_length = std::min(options.max_length, task.max_length());
  CheckLengths(task, {from, max_length});
  LRNN_CHECK(options.streams > 0, "[horizon] expected at least one stream, got {}", options.streams);
  LRNN_CHECK(model->vocab_size() >= task.vocab_size(),
             "[horizon] expected a model with the {} tokens of task {}, got {}", task.vocab_size(), task.name(),
             model->vocab_size());
  LRNN_CHECK(model->state_growth() == 0,
             "[horizon] expected a model whose state is of fixed size, got one that keeps {} more numbers with each "
             "token (attention); test it at the lengths that fit in memory instead (--lengths)",
             model->state_growth());
  model->eval();
  torch::NoGradGuard no_grad;
  const ops::RoundLinearToBf16 rounding(options.precision == Precision::kBfloat16);
  Horizon result{.options = options,
                 .score = task.score(),
                 .from = from,
                 .max_length = max_length,
                 .every_position = Streams::Answers(task)};
  const Timer timer;
  Progress progress({.label = "horizon", .total = max_length, .unit = "tokens", .out = options.progress});
  if (result.every_position) {
    EveryPosition(task, result).Measure(model, progress);
  } else {
    MeasureLengthByLength(model, task, result, progress);
  }
  result.seconds = timer.Seconds();
  return result;
}

nlohmann::json ToJson(const Horizon& horizon) {
  nlohmann::json checkpoints = nlohmann::json::array();
  for (const HorizonPoint& point : horizon.checkpoints) {
    const Interval interval = AccuracyInterval(point.accuracy, point.sequences);
    checkpoints.push_back({{"length", point.length},
                           {"accuracy", point.accuracy},
                           {"low", interval.low},
                           {"high", interval.high},
                           {"sequences", point.sequences},
                           {"predictions", point.predictions}});
  }
  return {{"length", horizon.length},
          {"has_ended", horizon.has_ended},
          {"accuracy", horizon.options.accuracy},
          {"from", horizon.from},
          {"max_length", horizon.max_length},
          {"streams", horizon.options.streams},
          {"seed", horizon.options.seed},
          {"precision", Name(horizon.options.precision)},
          {"score", Name(horizon.score)},
          {"every_position", horizon.every_position},
          {"checkpoints", checkpoints},
          {"tokens", horizon.tokens},
          {"seconds", horizon.seconds}};
}

}  // namespace lrnn
