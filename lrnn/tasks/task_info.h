// What the registry knows of a task before it is made: its name, what it is about, and its parameters.
#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "lrnn/tasks/task.h"

namespace lrnn {

struct TaskParameter {
  std::string name;
  nlohmann::json value;  // its default, whose type every value must have; null: a string that must be given
  std::string help;
};

class TaskParameters;

struct TaskInfo {
  std::string name;
  std::string summary;
  std::vector<TaskParameter> parameters;
  std::function<std::unique_ptr<Task>(const TaskParameters&)> make;

  bool NeedsParameters() const;  // it cannot be made from defaults alone

  // The value of a parameter from its text on a command line: "true", "4", "S5". An Error lists the parameters.
  nlohmann::json Parse(std::string_view parameter, const std::string& text) const;
};

// The values of a task's parameters: those given, and the defaults of the others. Errors name task and parameter,
//   task "group": tokens: expected an integer from 1 to 64, got 0
//   task "group": unknown parameter "token" (known: group, tokens, bos)
class TaskParameters {
 public:
  // `given` is a JSON object.
  TaskParameters(const TaskInfo& task, const nlohmann::json& given);

  int64_t Int(std::string_view name, int64_t min, int64_t max) const;
  double Double(std::string_view name, double min, double max) const;
  bool Bool(std::string_view name) const;
  std::string String(std::string_view name) const;
  std::string Choice(std::string_view name, const std::vector<std::string>& choices) const;

  [[noreturn]] void Refuse(std::string_view name, std::string_view expected) const;

 private:
  const nlohmann::json& Get(std::string_view name) const { return values_.find(name).value(); }

  std::string task_;
  nlohmann::json values_;
};

}  // namespace lrnn
