// A point of a training run to go on from: a model directory with two files more,
//
//   config.json  model.safetensors     the model
//   optimizer.safetensors              AdamW's running means
//   trainer.json                       steps done, tokens seen, seconds spent, the curriculum's length
//
// Data and learning rate are functions of these, so nothing else is needed to go on with the very same numbers.
#pragma once

#include <cstdint>

#include "lrnn/io/run_directory.h"
#include "lrnn/models/model.h"
#include "lrnn/train/adamw.h"

namespace lrnn {

struct TrainingProgress {
  int64_t step = 0;    // updates done
  int64_t tokens = 0;  // tokens trained on
  double seconds = 0;
  int64_t curriculum_length = 0;  // the longest sequences of the next step; 0: no curriculum
};

void SaveCheckpoint(const RunDirectory& run, const Model& model, const AdamW& optimizer,
                    const TrainingProgress& progress);

// Fills model and optimizer from the newest checkpoint; all zeros when there is none.
TrainingProgress LoadLatestCheckpoint(const RunDirectory& run, Model& model, AdamW& optimizer);

}  // namespace lrnn
