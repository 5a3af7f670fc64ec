#include "lrnn/experiments/results.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lrnn/base/message_of.h"
#include "lrnn/experiments/experiment_table.h"
#include "lrnn/experiments/results_csv.h"
#include "lrnn/experiments/runner.h"
#include "lrnn/experiments/sample_experiment.h"
#include "lrnn/experiments/score.h"
#include "lrnn/io/json_file.h"
#include "lrnn/io/test_directory.h"

namespace lrnn {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class ResultsTest : public testing::Test {
 protected:
  ResultsTest()
      : experiment_(ReadExperiment(WriteSampleExperiment(directory_.path()), "sample")),
        plan_(MakePlan(experiment_, {})),
        state_(directory_.path(), plan_) {}

  // As training and evaluation would leave the run, with a score of our choice.
  void Finish(const std::string& id, double score) {
    for (size_t i = 0; i < plan_.runs.size(); ++i) {
      const PlannedRun& run = plan_.runs[i];
      if (run.id != id) continue;
      const std::filesystem::path path = RunPath(directory_.path(), run);
      WriteSampleRun(path, {.is_extended = run.row == 1, .seed = static_cast<int>(run.seed)});
      json eval = ReadJson(path / "eval.json");
      eval["evaluations"][0]["scaled_accuracy"] = score;
      WriteJson(path / "eval.json", eval);
      state_.Set(i, {RunState::kDone, 3, 10, ""});
    }
  }

  TestDirectory directory_;
  Experiment experiment_;
  Plan plan_;
  QueueState state_;
};

TEST_F(ResultsTest, TheLearningRateWithTheHighestMedianCounts) {
  Finish("delta_net-lr0.01-seed1", 0.9);  // the best of all, but the median of this rate is 0.45
  Finish("delta_net-lr0.01-seed2", 0.0);
  Finish("delta_net-lr0.001-seed1", 0.5);
  Finish("delta_net-lr0.001-seed2", 0.6);
  const json results = BuildResults(plan_, state_, directory_.path());
  const json& row = results["groups"][0]["rows"][0];
  EXPECT_EQ(row["learning_rate"], 0.001);
  EXPECT_EQ(row["best"], 0.6);
  EXPECT_DOUBLE_EQ(row["median"].get<double>(), 0.55);
  EXPECT_NEAR(row["mad"].get<double>(), 0.05, 1e-12);
  EXPECT_EQ(row["seeds"], 2);
  EXPECT_EQ(row["run"]["train"]["seed"], 2);
  EXPECT_EQ(row["rates"].size(), 2u);
  EXPECT_EQ(row["paper"]["curve"], json({{3, 1}, {4, 0.5}}));
  EXPECT_EQ(row["cost"]["runs"], 4);
  EXPECT_EQ(row["learning"].size(), 6u);
  EXPECT_EQ(results["groups"][0]["chance"], 0.5);
  EXPECT_EQ(results["runs"], json({{"planned", 8}, {"done", 4}, {"failed", 0}}));
}

TEST_F(ResultsTest, WhatEarlierCommandsHaveDoneIsThereToo) {
  Finish("delta_net-lr0.01-seed1", 0.5);
  Finish("delta_net_extended-lr0.01-seed1", 0.75);
  Finish("delta_net_extended-lr0.01-seed2", 1.0);
  const Plan part = MakePlan(experiment_, {.seeds = {2}, .learning_rates = {1e-2}, .only = "[-1,1]"});
  const json results = BuildResults(part, QueueState(directory_.path(), part), directory_.path());
  const json& rows = results["groups"][0]["rows"];
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0]["label"], "DeltaNet [0,1]");
  EXPECT_EQ(rows[0]["best"], 0.5);
  EXPECT_EQ(rows[1]["best"], 1.0);
  EXPECT_EQ(rows[1]["seeds"], 2);
  EXPECT_EQ(results["runs"], json({{"planned", 3}, {"done", 3}, {"failed", 0}}));

  std::filesystem::remove_all(RunPath(directory_.path(), plan_.runs[0]));
  ASSERT_EQ(plan_.runs[0].id, "delta_net-lr0.01-seed1");
  EXPECT_EQ(BuildResults(part, QueueState(directory_.path(), part), directory_.path())["groups"][0]["rows"].size(), 1u);

  // With other settings those earlier runs are of another experiment.
  experiment_.groups[0].settings["short"]["train.batch_size"] = 16;
  const Plan other = MakePlan(experiment_, {.seeds = {3}, .only = "[-1,1]"});
  const json changed = BuildResults(other, QueueState(directory_.path(), other), directory_.path());
  EXPECT_EQ(changed["groups"][0]["rows"].size(), 1u);
  EXPECT_EQ(changed["runs"], json({{"planned", 2}, {"done", 0}, {"failed", 0}}));
}

TEST_F(ResultsTest, RowsWithoutRunsAndFailures) {
  state_.Set(0, {RunState::kFailed, 0, 1, "lrnn: the loss is nan"});
  const json results = BuildResults(plan_, state_, directory_.path());
  EXPECT_TRUE(results["groups"][0]["rows"][0]["run"].is_null());
  EXPECT_TRUE(results["groups"][0]["rows"][0]["best"].is_null());
  EXPECT_EQ(results["failures"][0]["message"], "lrnn: the loss is nan");
  EXPECT_THAT(results["failures"][0]["log"].get<std::string>(), HasSubstr("logs/delta_net-lr0.01-seed1.log"));
  EXPECT_THAT(RenderExperimentTable(results), HasSubstr("0 of 8 runs done, 1 failed"));
}

TEST_F(ResultsTest, TableForTheTerminal) {
  for (const char* id : {"delta_net-lr0.001-seed1", "delta_net-lr0.001-seed2", "delta_net_extended-lr0.001-seed1"}) {
    Finish(id, id == std::string("delta_net_extended-lr0.001-seed1") ? 1.0 : 0.02);
  }
  EXPECT_EQ(RenderExperimentTable(BuildResults(plan_, state_, directory_.path())),
            R"(Sample
Scaled accuracy (1 is perfect, 0 is guessing) at lengths 40 to 256

Parity            best  paper   median ± MAD          paper  seeds  learning rate  tokens/s
-------------------------------------------------------------------------------------------
DeltaNet [0,1]   0.020  0.017  0.020 ± 0.000  0.010 ± 0.005      2          0.001    81,339
DeltaNet [-1,1]  1.000  1.000  1.000 ± 0.000              -      1          0.001    81,339

Paper: Table 3
3 of 8 runs done, 0 failed
)");
}

TEST_F(ResultsTest, Csv) {
  Finish("delta_net-lr0.001-seed1", 0.25);
  json results = BuildResults(plan_, state_, directory_.path());
  json& run = results["groups"][0]["rows"][0]["rates"][0]["runs"][0];
  run["low"] = 0.2;
  run["high"] = 0.3;
  EXPECT_EQ(RunsCsv(results),
            "experiment,budget,group,model,learning_rate,seed,score,value,low,high,sequences,is_chosen,paper_best,"
            "paper_median,paper_mad\n"
            "sample,short,parity,\"DeltaNet [0,1]\",0.001,1,scaled_accuracy,0.25,0.2,0.3,8192,true,0.017,0.01,0.005\n");
  const std::string curves = CurvesCsv(results);
  EXPECT_THAT(curves, HasSubstr("\nsample,short,parity,\"DeltaNet [0,1]\",ours,40,50,"));
  EXPECT_THAT(curves, HasSubstr("\nsample,short,parity,\"DeltaNet [0,1]\",paper,3.0,3.0,1.0,,\n"));
}

TEST_F(ResultsTest, TheEvaluationMustBeThere) {
  Finish("delta_net-lr0.001-seed1", 0.25);
  EXPECT_THAT(MessageOf([&] { ReadScore(directory_ / "runs/delta_net-lr0.001-seed1", "scaled_accuracy", 3, 256); }),
              HasSubstr("eval.json: no evaluation over lengths 3:256"));
}

}  // namespace
}  // namespace lrnn
