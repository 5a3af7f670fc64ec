#include "lrnn/train/trainer.h"

#include <gmock/gmock.h>

#include <cmath>
#include <cstdlib>

#include "lrnn/base/message_of.h"
#include "lrnn/io/atomic_file.h"
#include "lrnn/io/json_file.h"
#include "lrnn/io/metrics_log.h"
#include "lrnn/io/test_directory.h"
#include "lrnn/layers/registry.h"

namespace lrnn {
namespace {

TrainConfig SmallConfig(const std::string& layer, const std::vector<std::string>& overrides = {}) {
  // The extended range, where there is one.
  const LayerInfo& info = FindLayer(layer);
  const std::string range =
      info.is_linear() ? fmt::format("eigenvalues = \"[{},{}]\"", info.extended.low, info.extended.high) : "";
  const std::string text = fmt::format(R"([task]
name = "parity"
train_lengths = [3, 10]
eval_lengths = [10, 20]
[model]
layer = "{}"
{}
hidden_size = 16
num_hidden_layers = 1
[train]
steps = 12
batch_size = 16
learning_rate = 3e-3
warmup_steps = 2
weight_decay = 0.01
log_every = 1
eval_every = 5
eval_sequences = 20
checkpoint_every = 4
)",
                                       layer, range);
  return ParseTrainConfig(text, "small.toml", overrides);
}

std::vector<double> Losses(const RunDirectory& run) {
  std::vector<double> losses;
  for (const auto& line : ReadMetrics(run.metrics_path())) {
    if (line.at("kind") == "train") losses.push_back(line.at("loss"));
  }
  return losses;
}

std::string ReadWeights(const RunDirectory& run) { return ReadFile(run.LatestCheckpoint().path / "model.safetensors"); }

// As a kill -9 leaves it: a copy of the run whose newest checkpoint is that of `step`, with log lines beyond it.
RunDirectory KilledAfter(int64_t step, const RunDirectory& whole, const TestDirectory& directory,
                         const TrainConfig& config) {
  const RunDirectory killed = RunDirectory::Create(directory / "killed", config.text);
  std::filesystem::copy(whole.path(), killed.path(),
                        std::filesystem::copy_options::recursive | std::filesystem::copy_options::overwrite_existing);
  for (const Checkpoint& checkpoint : killed.Checkpoints()) {
    if (checkpoint.step > step) std::filesystem::remove_all(checkpoint.path);
  }
  EXPECT_EQ(killed.LatestCheckpoint().step, step);
  return killed;
}

RunDirectory NewRun(const TestDirectory& directory, const std::string& name, const TrainConfig& config) {
  return RunDirectory::Create(directory / name, config.text);
}

TEST(Train, WritesMetricsCheckpointsAndState) {
  const TestDirectory directory;
  const TrainConfig config = SmallConfig("delta_net");
  const RunDirectory run = NewRun(directory, "run", config);
  EXPECT_EQ(Train(config, run, {}), TrainEnd::kComplete);
  EXPECT_EQ(Losses(run).size(), 12u);
  int evaluations = 0;
  for (const auto& line : ReadMetrics(run.metrics_path())) evaluations += line.at("kind") == "eval";
  EXPECT_EQ(evaluations, 3);  // after 5, 10 and the last step
  EXPECT_EQ(run.LatestCheckpoint().step, 12);
  const nlohmann::json state = ReadJson(run.train_path());
  EXPECT_EQ(state.at("state"), "complete");
  EXPECT_EQ(state.at("step"), 12);
  EXPECT_GT(state.at("tokens"), 12 * 16 * 2);
  // A run that is complete is left as it is.
  const std::string weights = ReadWeights(run);
  EXPECT_EQ(Train(config, run, {}), TrainEnd::kComplete);
  EXPECT_EQ(Losses(run).size(), 12u);
  EXPECT_EQ(ReadWeights(run), weights);
}

TEST(Train, ResumesBitExactly) {
  for (const LayerInfo& layer : Layers()) {
    const TestDirectory directory;
    const TrainConfig config = SmallConfig(layer.name);
    const RunDirectory whole = NewRun(directory, "whole", config);
    Train(config, whole, {});

    const RunDirectory killed = KilledAfter(8, whole, directory, config);
    // Half a checkpoint lies about.
    std::filesystem::create_directories(killed.checkpoints_path() / "step-00000012.tmp-half");
    EXPECT_EQ(Train(config, killed, {}), TrainEnd::kComplete);
    EXPECT_EQ(Losses(killed), Losses(whole)) << layer.name;
    EXPECT_EQ(ReadWeights(killed), ReadWeights(whole)) << layer.name;
  }
}

TEST(Train, AStopSavesAndGoesOn) {
  const TestDirectory directory;
  const TrainConfig config = SmallConfig("mamba");
  const RunDirectory whole = NewRun(directory, "whole", config), stopped = NewRun(directory, "stopped", config);
  Train(config, whole, {});
  const std::atomic<bool> stop = true;
  EXPECT_EQ(Train(config, stopped, {.stop = &stop}), TrainEnd::kInterrupted);
  EXPECT_EQ(ReadJson(stopped.train_path()).at("state"), "interrupted");
  EXPECT_EQ(stopped.LatestCheckpoint().step, 0);
  EXPECT_EQ(Train(config, stopped, {}), TrainEnd::kComplete);
  EXPECT_EQ(Losses(stopped), Losses(whole));
}

TEST(Train, AnInfiniteLossStopsAndKeepsTheLastCheckpoint) {
  const TestDirectory directory;
  const TrainConfig config =
      SmallConfig("delta_net", {"train.learning_rate=1e30", "train.warmup_steps=5", "train.checkpoint_every=1"});
  const RunDirectory run = NewRun(directory, "run", config);
  const std::string message = MessageOf([&] { Train(config, run, {}); });
  EXPECT_THAT(message,
              testing::ContainsRegex("the loss is -?(nan|inf) at step [0-9]+ .*the last good checkpoint is .*step-"));
  EXPECT_EQ(ReadJson(run.train_path()).at("state"), "failed");
  EXPECT_THROW(Train(config, run, {}), Failure);
}

TEST(Train, StopsAtTheAccuracyAskedFor) {
  const TestDirectory directory;
  const TrainConfig config = SmallConfig("mamba", {"train.stop_at_accuracy=0.0", "train.eval_sequences=200"});
  const RunDirectory run = NewRun(directory, "run", config);
  // Guessing one of the two answers has a scaled accuracy around 0: it is reached at one of the first validations or
  // never.
  EXPECT_EQ(Train(config, run, {}), TrainEnd::kComplete);
  const auto metrics = ReadMetrics(run.metrics_path());
  const int64_t step = ReadJson(run.train_path()).at("step");
  for (const auto& line : metrics) {
    if (line.at("kind") == "eval" && line.at("step") < step) {
      EXPECT_LT(line.at("scaled_accuracy"), 0.0);
    }
  }
  EXPECT_TRUE(step == 12 || metrics.back().at("scaled_accuracy") >= 0.0);
  EXPECT_EQ(run.LatestCheckpoint().step, step);
  // Such a run is complete: resuming adds nothing.
  EXPECT_EQ(Train(config, run, {}), TrainEnd::kComplete);
  EXPECT_EQ(ReadMetrics(run.metrics_path()).size(), metrics.size());

  const TrainConfig never = SmallConfig("mamba", {"train.stop_at_accuracy=1.1"});
  const RunDirectory whole = NewRun(directory, "whole", never);
  Train(never, whole, {});
  EXPECT_EQ(ReadJson(whole.train_path()).at("step"), 12);
}

TEST(Train, Bf16IsAnotherPrecisionOfTheSameRun) {
  const TestDirectory directory;
  const TrainConfig exact = SmallConfig("delta_net"), rounded = SmallConfig("delta_net", {"train.precision=bf16"});
  const RunDirectory fp32 = NewRun(directory, "fp32", exact), bf16 = NewRun(directory, "bf16", rounded);
  Train(exact, fp32, {});
  Train(rounded, bf16, {});
  EXPECT_NE(Losses(fp32), Losses(bf16));
  EXPECT_NEAR(Losses(fp32).front(), Losses(bf16).front(), 1e-2);
  EXPECT_NEAR(Losses(fp32).back(), Losses(bf16).back(), 0.1);
}

TEST(Train, ACurriculumLengthensTheSequences) {
  const TestDirectory directory;
  // Any loss is below 100: every logged step lengthens the sequences by one.
  const auto config = [](const std::string& loss) {
    return SmallConfig("mamba", {"task.train_lengths=[6, 10]", "train.curriculum_start=3",
                                 "train.curriculum_loss=" + loss, "train.log_every=2"});
  };
  const TrainConfig growing = config("100.0"), waiting = config("1e-9");
  const RunDirectory whole = NewRun(directory, "whole", growing), stuck = NewRun(directory, "stuck", waiting);
  Train(growing, whole, {});
  Train(waiting, stuck, {});
  const auto lengths = [](const RunDirectory& run) {
    std::vector<int> lengths;
    for (const auto& line : ReadMetrics(run.metrics_path())) {
      if (line.at("kind") == "train") lengths.push_back(line.at("length"));
    }
    return lengths;
  };
  EXPECT_EQ(lengths(stuck), std::vector<int>(6, 3));
  EXPECT_EQ(lengths(whole), (std::vector<int>{3, 4, 5, 6, 7, 8}));
  EXPECT_LT(ReadJson(stuck.train_path()).at("tokens"), ReadJson(whole.train_path()).at("tokens"));

  // The length is part of a checkpoint.
  const RunDirectory resumed = KilledAfter(8, whole, directory, growing);
  Train(growing, resumed, {});
  EXPECT_EQ(lengths(resumed), lengths(whole));
  EXPECT_EQ(ReadWeights(resumed), ReadWeights(whole));
}

TEST(Train, GradientsAreClipped) {
  const TestDirectory directory;
  // With a large epsilon AdamW's steps are as long as the gradients: clipped to almost nothing, they change nothing.
  const auto losses = [&](const std::string& name, std::vector<std::string> overrides) {
    for (const char* common : {"train.epsilon=1.0", "train.weight_decay=0.0"}) overrides.push_back(common);
    const TrainConfig config = SmallConfig("delta_net", overrides);
    const RunDirectory run = NewRun(directory, name, config);
    Train(config, run, {});
    return Losses(run);
  };
  const auto untrained = losses("untrained", {"train.learning_rate=0.0"});
  const auto clipped = losses("clipped", {"train.learning_rate=1.0", "train.clip_gradient_norm=1e-9"});
  const auto free = losses("free", {"train.learning_rate=1.0", "train.clip_gradient_norm=1e9"});
  EXPECT_NEAR(clipped.back(), untrained.back(), 1e-6);
  EXPECT_GT(std::abs(free.back() - untrained.back()), 1e-4);
}

TEST(Train, SmoothedLabelsKeepTheAnswersFromBeingCertain) {
  const TestDirectory directory;
  const TrainConfig config =
      SmallConfig("delta_net", {"train.steps=300", "train.batch_size=32", "train.learning_rate=1e-2",
                                "task.train_lengths=[2, 3]", "task.eval_lengths=[2, 3]", "train.eval_every=0",
                                "train.label_smoothing=0.5", "train.checkpoint_every=300"});
  const RunDirectory run = NewRun(directory, "run", config);
  Train(config, run, {});
  // Of two classes the right one is to have the probability 0.75: a cross-entropy of 0.288, and nothing above the
  // least.
  EXPECT_NEAR(Losses(run).back(), 0, 0.03);
  EXPECT_NEAR(ReadMetrics(run.metrics_path()).back().at("loss").get<double>(), -std::log(2.0 / 3), 0.03);
}

TEST(Train, LossFallsForEveryLayer) {
  for (const LayerInfo& layer : Layers()) {
    const TestDirectory directory;
    // Words of two bits: a few hundred steps are plenty for a layer that can be trained at all.
    const TrainConfig config = SmallConfig(
        layer.name, {"train.steps=300", "train.batch_size=32", "train.learning_rate=1e-2", "train.eval_every=0",
                     "task.train_lengths=[2, 3]", "train.checkpoint_every=300", "train.threads=1"});
    const RunDirectory run = NewRun(directory, "run", config);
    Train(config, run, {});
    const auto losses = Losses(run);
    EXPECT_GT(losses.front(), 0.6) << layer.name;
    EXPECT_LT(losses.back(), 0.3) << layer.name;
  }
}

// The first losses of a fixed seed. `LRNN_UPDATE_GOLDEN=1 build/dev/bin/train_trainer_test` writes the file anew; the
// tolerance allows for another order of sums on another CPU.
TEST(Train, GoldenLosses) {
  const std::filesystem::path file = std::filesystem::path(__FILE__).parent_path() / "golden_losses.json";
  nlohmann::json losses;
  for (const LayerInfo& layer : Layers()) {
    const TestDirectory directory;
    const TrainConfig config = SmallConfig(layer.name, {"train.steps=10"});
    const RunDirectory run = NewRun(directory, "run", config);
    Train(config, run, {});
    losses[layer.name] = Losses(run);
  }
  if (std::getenv("LRNN_UPDATE_GOLDEN")) WriteJson(file, losses);
  const nlohmann::json golden = ReadJson(file);
  for (const auto& [layer, values] : losses.items()) {
    ASSERT_EQ(golden.at(layer).size(), values.size());
    for (size_t i = 0; i < values.size(); ++i)
      EXPECT_NEAR(values[i].get<double>(), golden.at(layer)[i].get<double>(), 2e-4) << layer << " step " << i + 1;
  }
}

}  // namespace
}  // namespace lrnn
