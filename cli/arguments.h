// Arguments that several commands share.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lrnn/tasks/task_info.h"

namespace lrnn::cli {

struct Lengths {
  int64_t min;
  int64_t max;
};

// "40:256", or "1000" for 1000:1000.
Lengths ParseLengths(const std::string& text);

// A model directory, given itself or as the run whose newest checkpoint it is.
std::filesystem::path ModelPath(const std::filesystem::path& run_or_model);

// The parameters of a task from arguments "PARAMETER=VALUE" of --set, as a JSON object.
nlohmann::json ParseTaskParameters(const TaskInfo& task, const std::vector<std::string>& assignments);

}  // namespace lrnn::cli
