// Works through the runs of a plan: several processes at a time, each step of it on disk.
//
// A run is a chain of commands of `lrnn` itself: train, eval for each evaluation, analyze. Its files are
//
//   OUT/state.json               how far each run is
//   OUT/configs/...              the configurations, as `lrnn train` reads them
//   OUT/runs/ID/                 the run directory
//   OUT/logs/ID.log              what its commands printed
//
// Killed at any moment (also the machine's power), the next call goes on: finished commands are not repeated, a
// training continues from its newest checkpoint. A command that fails ends its run and no other.
#pragma once

#include <atomic>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "lrnn/experiments/plan.h"
#include "lrnn/experiments/queue_state.h"

namespace lrnn {

struct RunnerOptions {
  std::filesystem::path program;  // `lrnn`
  std::filesystem::path out;
  int jobs = 1;                             // processes at a time
  bool retries_failed = false;              // runs that failed before are tried again
  std::FILE* progress = nullptr;            // where to show it
  const std::atomic<bool>* stop = nullptr;  // when it turns true: save, and return
  std::function<void()> finished = {};      // called after each run that has ended
};

enum class QueueEnd { kComplete, kInterrupted };

// Runs what is not done. The caller holds the directory (directory_lock.h).
QueueEnd RunQueue(const Plan& plan, QueueState& state, const RunnerOptions& options);

std::filesystem::path RunPath(const std::filesystem::path& out, const PlannedRun& run);
std::filesystem::path LogPath(const std::filesystem::path& out, const PlannedRun& run);

// The commands of a run, without the program.
std::vector<std::vector<std::string>> RunCommands(const Plan& plan, const PlannedRun& run,
                                                  const std::filesystem::path& out);

// What is known of how long a run takes.
struct RunShare {
  size_t kind;   // runs of one kind take equally long per unit of work
  double work;   // of the whole run
  double done;   // share of it, 0 .. 1
  double spent;  // seconds
};

// Seconds until all are done with so many at a time; nothing while no run has any progress.
std::optional<double> RemainingSeconds(const std::vector<RunShare>& runs, int jobs);

}  // namespace lrnn
