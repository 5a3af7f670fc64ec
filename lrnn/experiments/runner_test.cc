#include "lrnn/experiments/runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "lrnn/experiments/sample_experiment.h"
#include "lrnn/io/atomic_file.h"
#include "lrnn/io/test_directory.h"

namespace lrnn {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// A stand-in for `lrnn`: notes what it was asked to do. Training of what is named in the file `fail` fails.
const char* const kProgram = R"sh(#!/bin/sh
here=$(dirname "$0")
echo "$*" >> "$here/calls"
case $1 in
  train)
    mkdir -p "$4" && echo > "$4/config.toml"
    echo '{"kind": "train", "step": 1, "loss": 0.5, "seconds": 1}' >> "$4/metrics.jsonl"
    if [ -e "$here/slow" ]; then exec sleep 60; fi
    if [ -e "$here/fail" ] && echo "$4" | grep -q "$(cat "$here/fail")"; then echo "lrnn: the loss is nan" >&2; exit 1; fi
    ;;
esac
)sh";

class RunnerTest : public testing::Test {
 protected:
  RunnerTest() : experiment_(ReadExperiment(WriteSampleExperiment(directory_.path()), "sample")) {
    WriteText(directory_ / "lrnn", kProgram);
    std::filesystem::permissions(directory_ / "lrnn", std::filesystem::perms::owner_all);
    std::filesystem::create_directories(directory_ / "out");
    plan_ = MakePlan(experiment_, {.budget = "smoke"});
  }

  RunnerOptions Options() { return {.program = directory_ / "lrnn", .out = directory_ / "out", .jobs = 2}; }

  std::string Calls() {
    return std::filesystem::exists(directory_ / "calls") ? ReadFile(directory_ / "calls") : std::string();
  }

  TestDirectory directory_;
  Experiment experiment_;
  Plan plan_;
};

TEST_F(RunnerTest, TrainsAndEvaluatesEveryRunOnce) {
  QueueState state(directory_ / "out", plan_);
  int finished = 0;
  RunnerOptions options = Options();
  options.finished = [&finished] { ++finished; };
  EXPECT_EQ(RunQueue(plan_, state, options), QueueEnd::kComplete);
  EXPECT_EQ(finished, 2);
  EXPECT_EQ(state[0].state, RunState::kDone);
  EXPECT_EQ(state[0].stages_done, 2);
  EXPECT_EQ(state[1].state, RunState::kDone);
  const std::string run = (directory_ / "out").string() + "/runs/delta_net-lr0.001-seed1";
  EXPECT_THAT(Calls(),
              HasSubstr("train " + (directory_ / "out").string() + "/configs/paper/sample/delta_net.toml --out " + run +
                        " --set train.learning_rate=0.001 --set train.seed=1 --set train.steps=3 --set "
                        "train.threads=1 --quiet\n"));
  EXPECT_THAT(Calls(),
              HasSubstr("eval " + run + " --lengths 40:256 --sequences 16 --threads 1 --precision fp32 --json\n"));
  EXPECT_EQ(ReadFile(directory_ / "out/configs/paper/sample/delta_net.toml"), SampleConfig({.is_extended = false}));
  std::filesystem::remove(directory_ / "calls");
  EXPECT_EQ(RunQueue(plan_, state, Options()), QueueEnd::kComplete);
  EXPECT_EQ(Calls(), "");
}

TEST_F(RunnerTest, AFailedRunDoesNotStopTheOthers) {
  WriteText(directory_ / "fail", "delta_net-lr");
  {
    QueueState state(directory_ / "out", plan_);
    EXPECT_EQ(RunQueue(plan_, state, Options()), QueueEnd::kComplete);
    EXPECT_EQ(state[0].state, RunState::kFailed);
    EXPECT_EQ(state[0].message, "lrnn: the loss is nan");
    EXPECT_EQ(state[1].state, RunState::kDone);
  }
  std::filesystem::remove(directory_ / "fail");
  QueueState state(directory_ / "out", plan_);
  EXPECT_EQ(RunQueue(plan_, state, Options()), QueueEnd::kComplete);
  EXPECT_EQ(state[0].state, RunState::kFailed);  // not tried again unless asked
  std::filesystem::remove(directory_ / "calls");
  RunnerOptions options = Options();
  options.retries_failed = true;
  EXPECT_EQ(RunQueue(plan_, state, options), QueueEnd::kComplete);
  EXPECT_EQ(state[0].state, RunState::kDone);
  EXPECT_THAT(Calls(), HasSubstr(" --resume --quiet"));  // with its first settings
}

TEST_F(RunnerTest, StopsAndGoesOn) {
  WriteText(directory_ / "slow", "");
  QueueState state(directory_ / "out", plan_);
  std::atomic<bool> stop = false;
  RunnerOptions options = Options();
  options.stop = &stop;
  std::thread stopper([&] {
    for (int i = 0; i < 1000; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      if (std::filesystem::exists(directory_ / "out/runs/delta_net_extended-lr0.001-seed1/metrics.jsonl")) break;
    }
    stop = true;
  });
  EXPECT_EQ(RunQueue(plan_, state, options), QueueEnd::kInterrupted);
  stopper.join();
  EXPECT_EQ(state[0].state, RunState::kWaiting);
  std::filesystem::remove(directory_ / "slow");
  EXPECT_EQ(RunQueue(plan_, state, Options()), QueueEnd::kComplete);
  EXPECT_EQ(state[0].state, RunState::kDone);
}

TEST_F(RunnerTest, AHalfMadeDirectoryIsMadeAnew) {
  std::filesystem::create_directories(directory_ / "out/runs/delta_net-lr0.001-seed1");
  WriteText(directory_ / "out/runs/delta_net-lr0.001-seed1/leftover", "");
  QueueState state(directory_ / "out", plan_);
  EXPECT_EQ(RunQueue(plan_, state, Options()), QueueEnd::kComplete);
  EXPECT_FALSE(std::filesystem::exists(directory_ / "out/runs/delta_net-lr0.001-seed1/leftover"));
}

TEST(RemainingSeconds, ByKindAndByTheMeanOfAll) {
  EXPECT_EQ(RemainingSeconds({{0, 100, 0, 0}}, 1), std::nullopt);
  // Half of a run took 10 s.
  EXPECT_EQ(RemainingSeconds({{0, 100, 0.5, 10}}, 1), 10);
  // Kind 0 takes 0.2 s a unit and kind 1 1 s; kind 2 is not known: 120 s for 200 units.
  EXPECT_EQ(RemainingSeconds({{0, 100, 1, 20}, {1, 100, 1, 100}, {0, 100, 0, 0}, {2, 100, 0, 0}}, 2), (20 + 60) / 2);
}

}  // namespace
}  // namespace lrnn
