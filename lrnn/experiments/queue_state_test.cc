#include "lrnn/experiments/queue_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lrnn/base/message_of.h"
#include "lrnn/experiments/directory_lock.h"
#include "lrnn/experiments/sample_experiment.h"
#include "lrnn/io/test_directory.h"

namespace lrnn {
namespace {

using testing::HasSubstr;

class QueueStateTest : public testing::Test {
 protected:
  QueueStateTest() : experiment_(ReadExperiment(WriteSampleExperiment(directory_.path()), "sample")) {}

  TestDirectory directory_;
  Experiment experiment_;
};

TEST_F(QueueStateTest, GoesOnWhereItWas) {
  const Plan plan = MakePlan(experiment_, {.budget = "smoke"});
  {
    QueueState state(directory_.path(), plan);
    EXPECT_EQ(state.size(), 2u);
    EXPECT_EQ(state[0].state, RunState::kWaiting);
    state.Set(0, {RunState::kFailed, 1, 2.5, "no luck"});
  }
  const Plan other_threads = MakePlan(experiment_, {.budget = "smoke", .threads = 4});
  const QueueState state(directory_.path(), other_threads);
  EXPECT_EQ(state[0].state, RunState::kFailed);
  EXPECT_EQ(state[0].stages_done, 1);
  EXPECT_EQ(state[0].seconds, 2.5);
  EXPECT_EQ(state[0].message, "no luck");
  EXPECT_EQ(state[1].state, RunState::kWaiting);
}

TEST_F(QueueStateTest, APartOfThePlanKeepsTheRest) {
  const Plan all = MakePlan(experiment_, {.budget = "smoke"});
  { QueueState(directory_.path(), all).Set(1, {RunState::kDone, 2, 1, ""}); }
  const Plan part = MakePlan(experiment_, {.budget = "smoke", .only = "[0,1]"});
  { QueueState(directory_.path(), part).Set(0, {RunState::kDone, 2, 1, ""}); }
  const QueueState state(directory_.path(), all);
  EXPECT_EQ(state[0].state, RunState::kDone);
  EXPECT_EQ(state[1].state, RunState::kDone);
}

TEST_F(QueueStateTest, AnotherPlanIsRefused) {
  const Plan plan = MakePlan(experiment_, {.budget = "smoke"});
  { QueueState(directory_.path(), plan); }
  const Plan other_budget = MakePlan(experiment_, {.budget = "full"});
  EXPECT_THAT(MessageOf([&] { QueueState(directory_.path(), other_budget); }),
              HasSubstr("state.json: is of sample with budget smoke; choose another --out"));
  experiment_.budgets["smoke"].settings["train.steps"] = 4;
  const Plan other_steps = MakePlan(experiment_, {.budget = "smoke"});
  EXPECT_THAT(MessageOf([&] { QueueState(directory_.path(), other_steps); }),
              HasSubstr("delta_net-lr0.001-seed1 was started with other settings; choose another --out"));
  WriteText(directory_ / "state.json",
            R"({"format": "lrnn.reproduce", "version": 1, "experiment": "sample", "budget": "smoke", "runs":
               {"delta_net-lr0.001-seed1": {"settings": {"train.steps": 4, "train.seed": 1, "train.learning_rate": 1e-3},
                "state": "lost", "stages_done": 0, "seconds": 0}}})");
  EXPECT_THAT(MessageOf([&] { QueueState(directory_.path(), other_steps); }),
              HasSubstr(R"(field "state": expected waiting, done or failed, got "lost")"));
}

TEST(DirectoryLock, OneProcessToADirectory) {
  const TestDirectory directory;
  {
    const DirectoryLock lock(directory.path());
    EXPECT_THAT(MessageOf([&] { DirectoryLock(directory.path()); }),
                HasSubstr("another lrnn reproduce is at work here"));
  }
  EXPECT_EQ(MessageOf([&] { DirectoryLock(directory.path()); }), "");
  EXPECT_THAT(MessageOf([&] { DirectoryLock(directory / "nowhere"); }), HasSubstr("lock: No such file"));
}

}  // namespace
}  // namespace lrnn
