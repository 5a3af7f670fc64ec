// What a training run does: a TOML file.
//
//   [task]   name = "parity"   train_lengths = [3, 40]   eval_lengths = [40, 256]
//            and the task's own parameters (lrnn tasks --show NAME)
//   [model]  layer = "delta_net"   eigenvalues = "[-1,1]"   hidden_size = 128   num_hidden_layers = 2
//            and the layer's own keys (lrnn layers NAME). Layers of several kinds: instead of `layer` a list, which
//            repeats, with keys that are an entry's own:  layers = ["delta_net", {layer = "gla", num_heads = 2}]
//   [train]  steps   batch_size   learning_rate   ...
//   [run]    title                                  optional
//   [reference]  source   scaled_accuracy           optional: what a paper reports for this run
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lrnn/tasks/batch.h"
#include "lrnn/tasks/task.h"
#include "lrnn/train/precision.h"

namespace lrnn {

struct TrainConfig {
  std::string text;  // the whole configuration as TOML, overrides included: what the run directory keeps
  std::shared_ptr<const Task> task;
  LengthRange train_lengths;
  LengthRange eval_lengths;
  nlohmann::json model;  // a config.json

  int64_t steps;
  int64_t batch_size;              // sequences
  double learning_rate;            // the highest
  int64_t warmup_steps;            // linear from 0
  double min_learning_rate_ratio;  // the cosine ends at this share of it
  double weight_decay;
  double beta1;
  double beta2;
  double epsilon;
  double label_smoothing;     // share of the probability asked for that is spread over all classes
  double clip_gradient_norm;  // larger gradients are scaled to this norm; infinity: never
  Precision precision;
  uint64_t seed;
  int threads;  // 0: all cores
  int64_t log_every;
  int64_t eval_every;  // 0: only at the end
  int64_t eval_sequences;
  int64_t curriculum_start;  // the longest sequences of the first steps; 0: train_lengths from the start
  double curriculum_loss;    // they grow by one after a logged step whose loss is below this
  double stop_at_accuracy;   // end the run when a validation reaches this scaled accuracy; infinity: never
  int64_t checkpoint_every;
};

// Throws an Error with file and line for anything that is missing, unknown or impossible. `overrides` are
// "section.key=value".
TrainConfig ParseTrainConfig(const std::string& text, const std::string& file,
                             const std::vector<std::string>& overrides = {});
TrainConfig ReadTrainConfig(const std::filesystem::path& path, const std::vector<std::string>& overrides = {});

}  // namespace lrnn
