// How accurate a model is, by length.
//
// Sequences are fed through the model in chunks, each from the state the last one left, so memory does not grow with
// their length: a million tokens need no more than a few thousand. (A model with softmax attention keeps its past, and
// its memory does grow.)
#pragma once

#include <cstdint>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lrnn/base/wilson.h"
#include "lrnn/models/model.h"
#include "lrnn/tasks/batch.h"
#include "lrnn/train/precision.h"

namespace lrnn {

struct EvaluateOptions {
  LengthRange lengths{40, 256};
  int64_t sequences = 8192;
  uint64_t seed = 0;              // names the data set
  int64_t together = 64;          // sequences at once
  int64_t chunk = 256;            // tokens of each at once
  std::FILE* progress = nullptr;  // where to draw a progress bar
  std::string label = "eval";
  Precision precision = Precision::kFloat32;
};

// Sequences, and the predictions in them.
struct LengthScore {
  int64_t sequences = 0;
  int64_t right_sequences = 0;  // without a wrong prediction
  int64_t targets = 0;
  int64_t right_targets = 0;

  double accuracy(Score score) const;
};

// Of the sequences that are at least so long, those whose predictions are all right up to there.
struct PrefixScore {
  int64_t length;
  int64_t sequences;
  int64_t correct;
};

struct Evaluation {
  EvaluateOptions options;
  double chance;  // the task's accuracy of guessing
  Score score;    // what the task counts as right
  std::map<int64_t, LengthScore> by_length;
  std::vector<PrefixScore> by_position;  // for scores by sequence: all lengths from one pass, never rising
  double loss = 0;                       // mean cross-entropy
  int64_t tokens = 0;
  double seconds = 0;

  LengthScore total() const;
  double accuracy() const { return total().accuracy(score); }
  double scaled_accuracy() const { return ScaledAccuracy(accuracy(), chance); }
  Interval interval() const;  // of accuracy()
};

// Puts the model into use (torch's eval()) and leaves it there.
Evaluation Evaluate(Model& model, const Task& task, const EvaluateOptions& options);

// The 95 % Wilson interval of an accuracy over `sequences`. A sequence is one observation, however many predictions it
// has: those of one sequence fail together.
Interval AccuracyInterval(double accuracy, int64_t sequences);

std::string Name(Score score);  // "tokens", "sequence"

// One entry of eval.json's "evaluations" (docs/evaluation.md).
nlohmann::json ToJson(const Evaluation& evaluation);

}  // namespace lrnn
