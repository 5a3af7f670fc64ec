// eval.json of a run: what `lrnn eval` found.
//
//   {"format": "lrnn.eval", "version": 1,
//    "task", "parameters", "chance", "score"                  the run's own task
//    "evaluations": [...],  "evaluations_bf16": [...],        one for each range of lengths (evaluate.h)
//    "horizon": {...},      "horizon_bf16": {...},            if measured (horizon.h)
//    "other_tasks": [{"task", "parameters", "chance", "score", "evaluations", ...}]}
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "lrnn/tasks/task.h"

namespace lrnn {

struct EvaluatedTask {
  std::string name;
  nlohmann::json parameters;  // all of them
  double chance;
  Score score;
};

// Adds an entry of "evaluations", in place of an earlier one of the same task, lengths and precision; `own` is the task
// of the run. The file is made or replaced.
void KeepEvaluation(const std::filesystem::path& path, const EvaluatedTask& own, const EvaluatedTask& task,
                    const nlohmann::json& evaluation);

// Sets "horizon" of that task.
void KeepHorizon(const std::filesystem::path& path, const EvaluatedTask& own, const EvaluatedTask& task,
                 const nlohmann::json& horizon);

}  // namespace lrnn
