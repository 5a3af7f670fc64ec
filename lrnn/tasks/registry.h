// The tasks of lrnn, by name. A new task is its own three files and one line in registry.cc.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "lrnn/tasks/task.h"

namespace lrnn {

const std::vector<std::unique_ptr<Task>>& Tasks();

// The task of that name; an Error lists the known ones.
const Task& FindTask(std::string_view name);

}  // namespace lrnn
