// Every configuration of the experiments is one that `lrnn train` takes, with the settings of every budget.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
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
    std::set<std::pair<size_t, size_t>> seen;  // seeds and learning rates change nothing here
    for (const PlannedRun& run : plan.runs) {
      // A budget's settings are checked with each group's first row, the configurations with one budget.
      if ((budget != "short" && run.row > 0) || !seen.insert({run.group, run.row}).second) continue;
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
