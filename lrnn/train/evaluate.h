// How accurate a model is, by length.
//
// Sequences are fed through the model in chunks, each from the state the last one left, so memory does not grow with
// their length: a million tokens need no more than a few thousand.
#pragma once

#include <cstdint>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>

#include "lrnn/base/wilson.h"
#include "lrnn/models/model.h"
#include "lrnn/tasks/batch.h"

namespace lrnn {

struct EvaluateOptions {
  LengthRange lengths{40, 256};
  int64_t sequences = 8192;
  uint64_t seed = 0;              // names the data set
  int64_t together = 64;          // sequences at once
  int64_t chunk = 256;            // tokens of each at once
  std::FILE* progress = nullptr;  // where to draw a progress bar
  std::string label = "eval";
};

struct LengthScore {
  int64_t targets = 0;
  int64_t correct = 0;
};

struct Evaluation {
  EvaluateOptions options;
  double chance;  // the task's accuracy of guessing
  std::map<int64_t, LengthScore> by_length;
  double loss = 0;  // mean cross-entropy
  int64_t tokens = 0;
  double seconds = 0;

  LengthScore total() const;
  double accuracy() const;
  double scaled_accuracy() const { return ScaledAccuracy(accuracy(), chance); }
};

Evaluation Evaluate(Model& model, const Task& task, const EvaluateOptions& options);

// One entry of eval.json's "evaluations": accuracy, scaled accuracy with its 95 % interval, counts by length.
nlohmann::json ToJson(const Evaluation& evaluation);

}  // namespace lrnn
