// The tasks of lrnn, by name. A new task is its own three files and one line in registry.cc.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "lrnn/tasks/task_info.h"

namespace lrnn {

const std::vector<TaskInfo>& Tasks();

// The task of that name; an Error lists the known ones.
const TaskInfo& FindTask(std::string_view name);

// The task with these parameters (a JSON object) and defaults for the others.
std::shared_ptr<const Task> MakeTask(std::string_view name,
                                     const nlohmann::json& parameters = nlohmann::json::object());

}  // namespace lrnn
