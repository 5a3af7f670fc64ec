// The runs of an experiment with a budget: every row with every learning rate and seed.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "lrnn/experiments/experiment.h"

namespace lrnn {

struct PlanOptions {
  std::string budget = "short";
  std::vector<int64_t> seeds = {};          // instead of the budget's, when there are any
  std::vector<double> learning_rates = {};  // the same
  std::string only = {};                    // rows whose "group/label" contains this
  int threads = 1;                          // of each run
};

struct PlannedRun {
  std::string id;  // "parity_mlstm-lr0.001-seed1": the name of its directory and its log
  size_t group;    // indices into the experiment
  size_t row;
  double learning_rate;
  int64_t seed;
  Settings settings;  // against the row's configuration
  int64_t steps;
  double work;  // tokens to train on: how long runs take, compared with each other
  std::vector<EvaluationPlan> evaluations;
  bool has_spectrum;
  int64_t horizon;  // how far to look for it; 0: not at all
};

struct Plan {
  const Experiment* experiment;
  std::string budget;
  int threads;
  std::vector<PlannedRun> runs;
};

// An Error when nothing is left to run.
Plan MakePlan(const Experiment& experiment, const PlanOptions& options);

// {"train.steps": 100} -> "train.steps=100", as `lrnn train --set` takes it.
std::vector<std::string> Assignments(const Settings& settings);

// "1e-05" and "0.001" alike: without needless digits.
std::string LearningRateText(double learning_rate);

}  // namespace lrnn
