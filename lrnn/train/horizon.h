// The horizon of a model: the longest length at which its accuracy stays at 0.99 or more, found with streams of up to
// a million tokens.
//
// How far a model that was trained on 40 tokens tracks a state is a number: an eigenvalue of -1 + e forgets as
// (1 - e)^t. Where the task has a right answer at every position (its targets, or its automaton's answers), a few
// streams are read side by side and every prediction counts:
//
//   score by tokens     the accuracy at a checkpoint is the share of right predictions since the checkpoint before
//   score by sequence   it is the share of streams without a wrong prediction so far
//
// Other tasks (modular arithmetic: an answer only after "=") are tested with examples of one length at a time: lengths
// double until the accuracy has fallen, and bisection finds where. Both need memory for the models' states alone.
#pragma once

#include <cstdint>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <vector>

#include "lrnn/models/model.h"
#include "lrnn/tasks/task.h"
#include "lrnn/train/evaluate.h"

namespace lrnn {

struct HorizonOptions {
  int64_t max_length = 1'000'000;
  int64_t from = 0;  // the shortest length that counts; 0: the task's shortest
  int64_t streams = 32;
  double accuracy = 0.99;
  uint64_t seed = 0;  // names the data set
  Precision precision = Precision::kFloat32;
  int64_t chunk = 128;            // tokens of each stream at once
  std::FILE* progress = nullptr;  // where to draw a progress bar
};

struct HorizonPoint {
  int64_t length;
  double accuracy;
  int64_t sequences;    // streams, or examples of this length
  int64_t predictions;  // that were judged
};

struct Horizon {
  HorizonOptions options;
  Score score;
  int64_t from;           // the shortest length that counted
  int64_t max_length;     // the longest that was asked for and that the task has
  bool every_position;    // or examples of one length at a time
  int64_t length = 0;     // 0: the accuracy is too low from the start
  bool has_ended = true;  // the accuracy fell; false: it is good up to max_length, and may be farther
  std::vector<HorizonPoint> checkpoints = {};  // by length; the last may lie beyond the horizon
  int64_t tokens = 0;
  double seconds = 0;
};

// An Error when the model's memory grows with the length (softmax attention).
Horizon MeasureHorizon(Model& model, const Task& task, const HorizonOptions& options);

nlohmann::json ToJson(const Horizon& horizon);  // "horizon" in eval.json

}  // namespace lrnn
