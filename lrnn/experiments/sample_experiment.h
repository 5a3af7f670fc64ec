// For tests: a small experiment on disk, two rows of parity, and its runs as training would leave them.
#pragma once

#include <filesystem>
#include <string>

#include "lrnn/experiments/experiment.h"
#include "lrnn/report/sample_runs.h"

namespace lrnn {

inline const char* const kSampleExperiment = R"(title = "Sample"
summary = "Two models."
paper = "Table 3"
score = "scaled_accuracy"
lengths = [40, 256]
curve_offset = 1
[[evaluations]]
lengths = [40, 256]
sequences = 8192
[budgets.smoke]
seeds = [1]
learning_rates = []
sequences = 16
settings = {"train.steps" = 3}
[budgets.short]
seeds = [1, 2]
learning_rates = [1e-2, 1e-3]
spectrum = true
[budgets.full]
seeds = [1, 2, 3]
learning_rates = []
[[groups]]
name = "parity"
title = "Parity"
note = "One of them fails."
short = {"train.steps" = 50, "train.batch_size" = 8}
[[groups.rows]]
label = "DeltaNet [0,1]"
config = "sample/delta_net.toml"
median = 0.010
mad = 0.005
curve = "curves/delta.csv"
short = {"train.steps" = 60}
[[groups.rows]]
label = "DeltaNet [-1,1]"
config = "sample/delta_net_extended.toml"
spectrum = false
)";

// Writes configs/ and data/ below the directory; the experiment is called "sample".
inline ExperimentFiles WriteSampleExperiment(const std::filesystem::path& directory,
                                             const std::string& text = kSampleExperiment) {
  std::filesystem::create_directories(directory / "configs/paper/sample");
  std::filesystem::create_directories(directory / "data/paper/curves");
  WriteText(directory / "configs/paper/sample.toml", text);
  WriteText(directory / "configs/paper/sample/delta_net.toml", SampleConfig({.is_extended = false}));
  WriteText(directory / "configs/paper/sample/delta_net_extended.toml", SampleConfig({}));
  WriteText(directory / "data/paper/curves/delta.csv", "len,scaled_acc\n2,1.000000\n3,0.5\n");
  return ExperimentFiles(directory);
}

}  // namespace lrnn
