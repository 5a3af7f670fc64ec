#include "lrnn/experiments/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lrnn/base/message_of.h"
#include "lrnn/experiments/sample_experiment.h"
#include "lrnn/io/test_directory.h"

namespace lrnn {
namespace {

using testing::ElementsAre;

class PlanTest : public testing::Test {
 protected:
  PlanTest() : experiment_(ReadExperiment(WriteSampleExperiment(directory_.path()), "sample")) {}

  std::vector<std::string> Ids(const PlanOptions& options) {
    std::vector<std::string> ids;
    for (const PlannedRun& run : MakePlan(experiment_, options).runs) ids.push_back(run.id);
    return ids;
  }

  TestDirectory directory_;
  Experiment experiment_;
};

TEST_F(PlanTest, EveryRowWithEveryRateAndSeed) {
  EXPECT_THAT(Ids({}),
              ElementsAre("delta_net-lr0.01-seed1", "delta_net-lr0.001-seed1", "delta_net_extended-lr0.01-seed1",
                          "delta_net_extended-lr0.001-seed1", "delta_net-lr0.01-seed2", "delta_net-lr0.001-seed2",
                          "delta_net_extended-lr0.01-seed2", "delta_net_extended-lr0.001-seed2"));
  EXPECT_THAT(Ids({.budget = "smoke"}), ElementsAre("delta_net-lr0.001-seed1", "delta_net_extended-lr0.001-seed1"));
  EXPECT_THAT(Ids({.seeds = {7}, .learning_rates = {1e-4}, .only = "[-1,1]"}),
              ElementsAre("delta_net_extended-lr0.0001-seed7"));
}

TEST_F(PlanTest, AGroupsOwnSeeds) {
  std::string text = kSampleExperiment;
  text.insert(text.find("note ="), "seeds = {short = [4, 5]}\n");
  experiment_ = ReadExperiment(WriteSampleExperiment(directory_.path(), text), "sample");
  EXPECT_THAT(Ids({.learning_rates = {1e-2}, .only = "[0,1]"}),
              ElementsAre("delta_net-lr0.01-seed4", "delta_net-lr0.01-seed5"));
  EXPECT_THAT(Ids({.budget = "smoke", .only = "[0,1]"}), ElementsAre("delta_net-lr0.001-seed1"));
  EXPECT_THAT(Ids({.seeds = {7}, .learning_rates = {1e-2}, .only = "[0,1]"}), ElementsAre("delta_net-lr0.01-seed7"));
}

TEST_F(PlanTest, RowsAreStrongerThanGroupsThanBudgets) {
  const Plan plan = MakePlan(experiment_, {.threads = 2});
  EXPECT_EQ(plan.runs[0].settings, Settings({{"train.steps", 60},
                                             {"train.batch_size", 8},
                                             {"train.learning_rate", 0.01},
                                             {"train.seed", 1},
                                             {"train.threads", 2}}));
  EXPECT_EQ(plan.runs[2].settings["train.steps"], 50);
  EXPECT_EQ(plan.runs[0].steps, 60);
  EXPECT_EQ(plan.runs[0].work, 60 * 8 * 21.5);
  EXPECT_TRUE(plan.runs[0].has_spectrum);
  EXPECT_FALSE(plan.runs[2].has_spectrum);
  EXPECT_EQ(plan.runs[0].evaluations[0].sequences, 8192);
  EXPECT_EQ(MakePlan(experiment_, {.budget = "smoke"}).runs[0].evaluations[0].sequences, 16);
}

TEST_F(PlanTest, AssignmentsForTheCommandLine) {
  EXPECT_THAT(Assignments({{"train.steps", 60}, {"train.learning_rate", 1e-4}, {"task.group", "S5"}}),
              ElementsAre("task.group=\"S5\"", "train.learning_rate=0.0001", "train.steps=60"));
}

TEST_F(PlanTest, Errors) {
  EXPECT_EQ(MessageOf([&] { MakePlan(experiment_, {.budget = "tiny"}); }),
            "--budget: expected smoke, short or full, got \"tiny\"");
  EXPECT_EQ(MessageOf([&] { MakePlan(experiment_, {.only = "mamba"}); }),
            "--only: no row of sample contains \"mamba\"");
}

}  // namespace
}  // namespace lrnn
