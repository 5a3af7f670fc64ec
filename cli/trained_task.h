// What a model's config.json says it was trained for.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "lrnn/io/fields.h"

namespace lrnn::cli {

struct TrainedTask {
  std::string name;  // empty: it does not say
  nlohmann::json parameters = nlohmann::json::object();
};

inline TrainedTask TrainedFor(const Fields& config) {
  TrainedTask task;
  if (!config.Has("lrnn")) return task;
  const Fields trained = config.Object("lrnn");
  task.name = trained.String("task", "");
  if (trained.Has("task_parameters")) task.parameters = trained.Object("task_parameters").json();
  return task;
}

}  // namespace lrnn::cli
