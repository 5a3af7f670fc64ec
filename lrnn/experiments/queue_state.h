// state.json of an experiment's directory: how far each run is, so that an interrupted queue goes on where it was.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "lrnn/experiments/plan.h"

namespace lrnn {

// A run that was running when its process died is waiting: its own files say how far it came.
enum class RunState { kWaiting, kDone, kFailed };

struct RunRecord {
  RunState state = RunState::kWaiting;
  int stages_done = 0;  // training, evaluations, spectrum
  double seconds = 0;   // spent on it
  std::string message;  // why it failed
};

class QueueState {
 public:
  // Reads the file of the directory, or begins a new one. An Error when it is of another plan: other runs or other
  // settings of a run. Runs that the plan has not (it may be a part of the experiment) are kept.
  QueueState(const std::filesystem::path& directory, const Plan& plan);

  const RunRecord& operator[](size_t run) const { return records_[run]; }  // by index into the plan
  size_t size() const { return records_.size(); }

  // Runs of the experiment outside the plan that are done, with the settings that it would give them today: earlier
  // commands asked for other rows, seeds or learning rates.
  std::vector<PlannedRun> OthersDone() const;

  // Changes one record and writes the file.
  void Set(size_t run, const RunRecord& record);

 private:
  void Write() const;

  std::filesystem::path path_;
  const Plan& plan_;
  std::vector<RunRecord> records_;
  nlohmann::json others_;  // records of runs outside the plan, by id
};

}  // namespace lrnn
