// Models and what is known of the task they were made for.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "lrnn/io/run_directory.h"
#include "lrnn/models/model.h"
#include "lrnn/tasks/task.h"
#include "lrnn/train/config.h"

namespace lrnn::cli {

struct LoadedModel {
  Model model{nullptr};
  std::shared_ptr<const Task> task;
  std::optional<RunDirectory> run;        // when it was given as a run
  std::optional<TrainConfig> run_config;  // that run's
};

// A run or a model directory; `task_name` may be empty when the model says what it was trained for.
LoadedModel LoadWithTask(const std::filesystem::path& run_or_model, const std::string& task_name);

}  // namespace lrnn::cli
