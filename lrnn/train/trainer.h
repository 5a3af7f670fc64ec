// The training loop: batches of a task, cross-entropy at the supervised positions, AdamW, metrics, checkpoints.
//
// A run is a function of its configuration: batch and learning rate depend on the step (and the length a curriculum has
// come to) alone, so a run that was interrupted anywhere goes on from its newest checkpoint with the numbers it would
// have had.
#pragma once

#include <atomic>
#include <cstdio>

#include "lrnn/io/run_directory.h"
#include "lrnn/train/checkpoint.h"
#include "lrnn/train/config.h"

namespace lrnn {

struct TrainOptions {
  std::FILE* progress = nullptr;            // where to draw a progress bar
  const std::atomic<bool>* stop = nullptr;  // when it turns true: save, and return
};

enum class TrainEnd { kComplete, kInterrupted };

// Trains from the run's newest checkpoint (or from the start) to the last step; a run that is complete is left as it
// is. A loss that is not finite is a Failure that names the step and the checkpoint to go back to.
TrainEnd Train(const TrainConfig& config, const RunDirectory& run, const TrainOptions& options);

// Whether the run reached its last step, or the accuracy it was to stop at.
bool IsComplete(const RunDirectory& run);

// Seeds of a run's data sets, from the seed of its configuration.
uint64_t TrainDataSeed(uint64_t seed);
uint64_t ValidationDataSeed(uint64_t seed);
uint64_t TestDataSeed(uint64_t seed);

}  // namespace lrnn
