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
  nlohmann::json parameters;              // of the task, all of them
  std::string own_task;                   // what it was trained for, "" when it does not say
  nlohmann::json own_parameters;          // of that
  std::optional<RunDirectory> run;        // when it was given as a run
  std::optional<TrainConfig> run_config;  // that run's

  bool is_own_task() const { return task->name() == own_task && parameters == own_parameters; }
};

// A run or a model directory; `task_name` may be empty when the model says what it was trained for. Its own task has
// its own parameters, another one that one's defaults, both changed by `assignments` ("PARAMETER=VALUE", of --set).
LoadedModel LoadWithTask(const std::filesystem::path& run_or_model, const std::string& task_name,
                         const std::vector<std::string>& assignments = {});

}  // namespace lrnn::cli
