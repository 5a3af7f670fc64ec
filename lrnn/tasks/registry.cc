#include "lrnn/tasks/registry.h"

#include "lrnn/base/error.h"
#include "lrnn/tasks/parity.h"

namespace lrnn {
namespace {

std::vector<std::unique_ptr<Task>> MakeTasks() {
  std::vector<std::unique_ptr<Task>> tasks;
  tasks.push_back(std::make_unique<Parity>());
  return tasks;
}

}  // namespace

const std::vector<std::unique_ptr<Task>>& Tasks() {
  static const std::vector<std::unique_ptr<Task>> tasks = MakeTasks();
  return tasks;
}

const Task& FindTask(std::string_view name) {
  std::string known;
  for (const auto& task : Tasks()) {
    if (task->name() == name) return *task;
    known += (known.empty() ? "" : ", ") + task->name();
  }
  Fail("unknown task \"{}\" (known: {})", name, known);
}

}  // namespace lrnn
