#include "lrnn/tasks/registry.h"

#include "lrnn/base/error.h"
#include "lrnn/tasks/automaton.h"
#include "lrnn/tasks/binary_arithmetic.h"
#include "lrnn/tasks/cycle_navigation.h"
#include "lrnn/tasks/even_pairs.h"
#include "lrnn/tasks/file_task.h"
#include "lrnn/tasks/group_words.h"
#include "lrnn/tasks/missing_duplicate.h"
#include "lrnn/tasks/modular_arithmetic.h"
#include "lrnn/tasks/modular_arithmetic_brackets.h"
#include "lrnn/tasks/parity.h"
#include "lrnn/tasks/solve_equation.h"
#include "lrnn/tasks/stack_manipulation.h"
#include "lrnn/tasks/string_tasks.h"

namespace lrnn {

const std::vector<TaskInfo>& Tasks() {
  // clang-format off
  static const std::vector<TaskInfo> tasks = {
      ParityInfo(),
      ModularArithmeticInfo(),
      ModularArithmeticBracketsInfo(),
      EvenPairsInfo(),
      CycleNavigationInfo(),
      GroupWordsInfo(),
      RegexInfo(),
      DfaInfo(),
      SolveEquationInfo(),
      StackManipulationInfo(),
      ReverseStringInfo(),
      DuplicateStringInfo(),
      OddsFirstInfo(),
      MissingDuplicateInfo(),
      BucketSortInfo(),
      BinaryAdditionInfo(),
      BinaryMultiplicationInfo(),
      ComputeSqrtInfo(),
      FileTaskInfo(),
  };
  // clang-format on
  return tasks;
}

const TaskInfo& FindTask(std::string_view name) {
  std::string known;
  for (const TaskInfo& task : Tasks()) {
    if (task.name == name) return task;
    known += (known.empty() ? "" : ", ") + task.name;
  }
  Fail("unknown task \"{}\" (known: {})", name, known);
}

std::shared_ptr<const Task> MakeTask(std::string_view name, const nlohmann::json& parameters) {
  const TaskInfo& task = FindTask(name);
  return task.make(TaskParameters(task, parameters));
}

}  // namespace lrnn
