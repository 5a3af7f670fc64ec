// Every configuration of the experiments is one that `lrnn train` takes, with the settings of every budget.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "lrnn/experiments/plan.h"
#include "lrnn/train/config.h"

namespace lrnn {
namespace {

class ExperimentConfigs : public testing::TestWithParam<std::string> {};

TEST_P(ExperimentConfigs, AreTakenByTheTrainer) {
  const Experiment experiment = ReadExperiment(ExperimentFiles(), GetParam());
  for (const std::string& budget : kBudgets) {
    const Plan plan = MakePlan(experiment, {.budget = budget});
    for (const PlannedRun& run : plan.runs) {
      if (run.seed != plan.runs[0].seed) continue;
      const ExperimentRow& row = experiment.groups[run.group].rows[run.row];
      SCOPED_TRACE(row.config + ", " + budget);
      const TrainConfig config = ParseTrainConfig(row.config_text, row.config, Assignments(run.settings));
      EXPECT_EQ(config.steps, run.steps);
      // The lengths that are evaluated exist in the task.
      for (const EvaluationPlan& evaluation : run.evaluations) {
        EXPECT_NO_THROW(CheckLengths(config.task->held_out(), {evaluation.shortest, evaluation.longest}));
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, ExperimentConfigs, testing::ValuesIn(ExperimentNames(ExperimentFiles())),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace lrnn
