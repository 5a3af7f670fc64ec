// An experiment of the paper: which configurations are trained, with which seeds and learning rates, what is evaluated
// and what the authors report. A TOML file, configs/paper/table3.toml say:
//
//   title    = "Formal languages"
//   summary  = "..."
//   paper    = "Table 3 (best of 3 seeds) and Table 5 (median +- MAD)"     what stands in the columns "paper"
//   score    = "scaled_accuracy"          or "sequence_accuracy"
//   lengths  = [40, 256]                  where the score is taken: one of the evaluations
//   curve_offset = 1                      our lengths minus those of the authors' curves
//
//   [[evaluations]]                       of every run
//   lengths = [40, 256]
//   sequences = 8192
//   precision = "bf16"                    default: fp32, which the score is taken from
//
//   [budgets.short]                       smoke, short and full
//   seeds = [1]
//   learning_rates = []                   none: each configuration's own
//   sequences = 1024                      of each evaluation; default: as above
//   spectrum = true                       the eigenvalues in use
//   horizon = 100000                      how far to look for the horizon of groups that ask for it
//   settings = {"train.steps" = 100}      what is not as in the configurations
//
//   [[groups]]                            a column of the table, a set-up of the figure
//   name = "parity"
//   title = "Parity"
//   note = "..."                          what the paper says of it, optional
//   horizon = true                        optional
//   short = {"train.steps" = 50}          settings of a budget for this group, optional
//   seeds = {short = [1, 2, 3]}           instead of a budget's, optional
//
//   [[groups.rows]]
//   label = "mLSTM"
//   config = "table3/parity_mlstm.toml"   beside this file; its [reference] is the paper's best
//   median = 0.018                        optional, as the rest
//   mad = 0.035
//   curve = "curves/parity_xlstm_mLSTM.csv"    in data/paper/
//   spectrum = false                      for a layer whose transitions are no matrices
//   short = {"train.steps" = 50}
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lrnn/experiments/experiment_files.h"

namespace lrnn {

inline const std::vector<std::string> kBudgets = {"smoke", "short", "full"};

// {"train.steps": 100, ...}: section and key, and the value instead of the configuration's.
using Settings = nlohmann::json;

struct EvaluationPlan {
  int64_t shortest;
  int64_t longest;
  int64_t sequences;
  std::string precision;
};

struct Budget {
  std::vector<int64_t> seeds;
  std::vector<double> learning_rates;  // empty: each configuration's own
  int64_t sequences = 0;               // of each evaluation; 0: as the experiment says
  bool has_spectrum = false;
  int64_t horizon = 0;  // how far to look for it; 0: not at all
  Settings settings;
};

struct PaperNumbers {
  std::optional<double> best, median, mad;
  std::vector<std::pair<double, double>> curve;  // (length, score), in our lengths
};

struct ExperimentRow {
  std::string label;
  std::string config;       // the name of its file
  std::string config_text;  // and what is in it
  nlohmann::json values;    // the same, parsed
  bool has_spectrum = true;
  std::map<std::string, Settings> settings;  // by budget
  PaperNumbers paper;
};

struct ExperimentGroup {
  std::string name, title, note;
  bool has_horizon = false;
  std::map<std::string, Settings> settings;           // by budget
  std::map<std::string, std::vector<int64_t>> seeds;  // by budget, of those that it has seeds of its own for
  std::vector<ExperimentRow> rows;
};

struct Experiment {
  std::string name, title, summary, paper;
  std::string score;
  int64_t shortest, longest;  // where it is taken
  std::vector<EvaluationPlan> evaluations;
  std::map<std::string, Budget> budgets;
  std::vector<ExperimentGroup> groups;
};

// "fig1", "table3", ...: those of the paper, then those beyond it.
std::vector<std::string> ExperimentNames(const ExperimentFiles& files);

// An Error names the file and the field; an unknown name lists the known ones.
Experiment ReadExperiment(const ExperimentFiles& files, const std::string& name);

}  // namespace lrnn
