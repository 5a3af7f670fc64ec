#include "lrnn/train/trainer.h"

#include <algorithm>
#include <cmath>

#include "lrnn/base/error.h"
#include "lrnn/base/hardware.h"
#include "lrnn/base/progress.h"
#include "lrnn/base/timer.h"
#include "lrnn/base/version.h"
#include "lrnn/io/json_file.h"
#include "lrnn/io/metrics_log.h"
#include "lrnn/ops/cross_entropy.h"
#include "lrnn/ops/linear.h"
#include "lrnn/ops/threads.h"
#include "lrnn/train/evaluate.h"
#include "lrnn/train/schedule.h"

namespace lrnn {

uint64_t TrainDataSeed(uint64_t seed) { return DeriveSeed(seed, 1); }
uint64_t ValidationDataSeed(uint64_t seed) { return DeriveSeed(seed, 2); }
uint64_t TestDataSeed(uint64_t seed) { return DeriveSeed(seed, 3); }

namespace {

class Trainer {
 public:
  Trainer(const TrainConfig& config, const RunDirectory& run, const TrainOptions& options)
      : config_(config),
        run_(run),
        options_(options),
        threads_(config.threads > 0 ? config.threads : CpuCount()),
        model_(Fields(config.model, run.config_path().string()), config.seed),
        optimizer_(*model_, model_->WithoutWeightDecay(),
                   {.lr = 0,
                    .beta1 = config.beta1,
                    .beta2 = config.beta2,
                    .eps = config.epsilon,
                    .weight_decay = config.weight_decay}),
        metrics_(run.metrics_path()) {
    ops::UseThreads(threads_);
    progress_ = LoadLatestCheckpoint(run, model_, optimizer_);
    if (progress_.step == 0) progress_.curriculum_length = config.curriculum_start;
    metrics_.TruncateAfter(progress_.step);
    seconds_before_ = progress_.seconds;
  }

  TrainEnd Run() {
    WriteState("running");
    Progress bar(
        {.label = "train", .total = config_.steps, .start = progress_.step, .unit = "steps", .out = options_.progress});
    while (progress_.step < config_.steps) {
      if (options_.stop && *options_.stop) {
        Save();
        WriteState("interrupted");
        return TrainEnd::kInterrupted;
      }
      Step(bar);
      bool last = progress_.step == config_.steps;
      if (last || (config_.eval_every > 0 && progress_.step % config_.eval_every == 0)) {
        last |= Validate(bar) >= config_.stop_at_accuracy;
      }
      if (last || progress_.step % config_.checkpoint_every == 0) Save();
      bar.Update(progress_.step);
      if (last) break;
    }
    WriteState("complete");
    return TrainEnd::kComplete;
  }

 private:
  void Step(Progress& bar) {
    const int64_t t = progress_.step;
    const Batch batch = MakeBatch(*config_.task, Lengths(), TrainDataSeed(config_.seed),
                                  static_cast<uint64_t>(t * config_.batch_size), config_.batch_size, threads_);
    const torch::Tensor targets = torch::tensor(batch.targets, torch::kInt64);
    model_->train();
    const ops::RoundLinearToBf16 rounding(config_.precision == Precision::kBfloat16);
    const torch::Tensor logits =
        model_->forward(torch::tensor(batch.tokens, torch::kInt64), ops::Sequences(batch.cu_seqlens),
                        torch::tensor(batch.rows, torch::kInt64));
    const torch::Tensor loss_tensor = ops::CrossEntropy(logits, targets, config_.label_smoothing);
    // What is logged, and what a curriculum looks at, can fall to 0 with smoothing as well.
    const double loss = loss_tensor.item<double>() - ops::LeastCrossEntropy(config_.label_smoothing, logits.size(1));
    const double rate =
        LearningRate(t, config_.steps, config_.warmup_steps, config_.learning_rate, config_.min_learning_rate_ratio);
    if (!std::isfinite(loss)) FailWithLoss(loss, t, rate);
    loss_tensor.backward();
    optimizer_.Step(t + 1, rate, threads_, ClippingScale());

    progress_.step = t + 1;
    progress_.tokens += static_cast<int64_t>(batch.tokens.size());
    progress_.seconds = seconds_before_ + timer_.Seconds();
    if (progress_.step % config_.log_every != 0 && progress_.step != config_.steps) return;
    const double accuracy = logits.argmax(1).eq(targets).to(torch::kFloat64).mean().item<double>();
    bar.Set("loss", loss);
    bar.Set("accuracy", accuracy);
    nlohmann::json line = {{"kind", "train"},
                           {"step", progress_.step},
                           {"loss", loss},
                           {"accuracy", accuracy},
                           {"learning_rate", rate},
                           {"tokens_per_second", static_cast<double>(progress_.tokens) / progress_.seconds},
                           {"seconds", progress_.seconds}};
    if (config_.curriculum_start > 0) {
      line["length"] = progress_.curriculum_length;
      bar.Set("length", static_cast<double>(progress_.curriculum_length));
      if (loss < config_.curriculum_loss && progress_.curriculum_length < config_.train_lengths.max) {
        ++progress_.curriculum_length;
      }
    }
    metrics_.Append(line);
  }

  // Lengths of the next step's sequences.
  LengthRange Lengths() const {
    if (config_.curriculum_start == 0) return config_.train_lengths;
    return {std::min(config_.train_lengths.min, progress_.curriculum_length), progress_.curriculum_length};
  }

  // What the gradients are multiplied with so that their norm is at most clip_gradient_norm.
  double ClippingScale() const {
    if (std::isinf(config_.clip_gradient_norm)) return 1;
    const double norm = optimizer_.GradientNorm();
    return norm > config_.clip_gradient_norm ? config_.clip_gradient_norm / norm : 1;
  }

  [[noreturn]] void FailWithLoss(double loss, int64_t t, double rate) {
    WriteState("failed");
    const auto checkpoints = run_.Checkpoints();
    throw Failure(fmt::format("the loss is {} at step {} (learning rate {:.3g}); {}", loss, t + 1, rate,
                              checkpoints.empty() ? std::string("there is no checkpoint yet")
                                                  : "the last good checkpoint is " + checkpoints.back().path.string()));
  }

  // Gives the scaled accuracy.
  double Validate(Progress& bar) {
    const Evaluation result = Evaluate(model_, *config_.task,
                                       {.lengths = config_.eval_lengths,
                                        .sequences = config_.eval_sequences,
                                        .seed = ValidationDataSeed(config_.seed),
                                        .precision = config_.precision});
    const Interval interval = result.interval();
    bar.Set("scaled accuracy", result.scaled_accuracy());
    metrics_.Append({{"kind", "eval"},
                     {"step", progress_.step},
                     {"loss", result.loss},
                     {"accuracy", result.accuracy()},
                     {"scaled_accuracy", result.scaled_accuracy()},
                     {"low", config_.task->Scaled(interval.low)},
                     {"high", config_.task->Scaled(interval.high)},
                     {"sequences", result.options.sequences}});
    progress_.seconds = seconds_before_ + timer_.Seconds();
    return result.scaled_accuracy();
  }

  void Save() { SaveCheckpoint(run_, model_, optimizer_, progress_); }

  void WriteState(const char* state) {
    WriteJson(run_.train_path(), {{"format", "lrnn.train"},
                                  {"version", 1},
                                  {"state", state},
                                  {"step", progress_.step},
                                  {"steps", config_.steps},
                                  {"tokens", progress_.tokens},
                                  {"seconds", progress_.seconds},
                                  {"parameters", model_->parameter_count()},
                                  {"model_type", config_.model.at("model_type")},
                                  {"hardware", {{"cpu", CpuName()}, {"threads", threads_}}},
                                  {"lrnn_version", kVersion}});
  }

  const TrainConfig& config_;
  const RunDirectory& run_;
  const TrainOptions& options_;
  const int threads_;
  Model model_;
  AdamW optimizer_;
  MetricsLog metrics_;
  TrainingProgress progress_;
  Timer timer_;
  double seconds_before_ = 0;  // spent by earlier processes
};

}  // namespace

bool IsComplete(const RunDirectory& run) {
  if (!std::filesystem::exists(run.train_path()) || run.Checkpoints().empty()) return false;
  const Fields train(ReadJson(run.train_path()), run.train_path().string());
  return train.String("state") == "complete" && train.Int("step") == run.LatestCheckpoint().step;
}

TrainEnd Train(const TrainConfig& config, const RunDirectory& run, const TrainOptions& options) {
  run.RemoveLeftovers();
  if (IsComplete(run)) return TrainEnd::kComplete;
  return Trainer(config, run, options).Run();
}

}  // namespace lrnn
