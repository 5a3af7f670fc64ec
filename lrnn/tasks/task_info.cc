#include "lrnn/tasks/task_info.h"

#include <algorithm>

#include "lrnn/base/error.h"

namespace lrnn {
namespace {

const TaskParameter& Find(const TaskInfo& task, std::string_view name) {
  std::string known;
  for (const TaskParameter& parameter : task.parameters) {
    if (parameter.name == name) return parameter;
    known += (known.empty() ? "known: " : ", ") + parameter.name;
  }
  Fail("task \"{}\": unknown parameter \"{}\" ({})", task.name, name, known.empty() ? "it takes none" : known);
}

bool IsString(const TaskParameter& parameter) { return parameter.value.is_null() || parameter.value.is_string(); }

bool HasType(const nlohmann::json& value, const TaskParameter& parameter) {
  if (IsString(parameter)) return value.is_string();
  if (parameter.value.is_number_float()) return value.is_number();
  if (parameter.value.is_number_integer()) return value.is_number_integer();
  return value.is_boolean();
}

std::string TypeName(const TaskParameter& parameter) {
  if (IsString(parameter)) return "a string";
  if (parameter.value.is_number_float()) return "a number";
  if (parameter.value.is_number_integer()) return "an integer";
  return "true or false";
}

}  // namespace

bool TaskInfo::NeedsParameters() const {
  return std::any_of(parameters.begin(), parameters.end(), [](const auto& each) { return each.value.is_null(); });
}

nlohmann::json TaskInfo::Parse(std::string_view parameter, const std::string& text) const {
  if (IsString(Find(*this, parameter))) return text;
  const nlohmann::json value = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  return value.is_discarded() ? nlohmann::json(text) : value;
}

TaskParameters::TaskParameters(const TaskInfo& task, const nlohmann::json& given)
    : task_(task.name), values_(nlohmann::json::object()) {
  LRNN_CHECK(given.is_object(), "task \"{}\": expected its parameters as an object, got {}", task_, given.dump());
  for (const auto& [name, value] : given.items()) {
    const TaskParameter& parameter = Find(task, name);
    values_[name] = value;
    if (!HasType(value, parameter)) Refuse(name, TypeName(parameter));
  }
  for (const TaskParameter& parameter : task.parameters) {
    if (values_.contains(parameter.name)) continue;
    LRNN_CHECK(!parameter.value.is_null(), "task \"{}\": parameter \"{}\" is missing: {}", task_, parameter.name,
               parameter.help);
    values_[parameter.name] = parameter.value;
  }
}

void TaskParameters::Refuse(std::string_view name, std::string_view expected) const {
  Fail("task \"{}\": {}: expected {}, got {}", task_, name, expected,
       Get(name).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

int64_t TaskParameters::Int(std::string_view name, int64_t min, int64_t max) const {
  const nlohmann::json& value = Get(name);
  const bool fits = !value.is_number_unsigned() || value.get<uint64_t>() <= uint64_t{INT64_MAX};
  if (!fits || value.get<int64_t>() < min || value.get<int64_t>() > max) {
    Refuse(name, fmt::format("an integer from {} to {}", min, max));
  }
  return value.get<int64_t>();
}

double TaskParameters::Double(std::string_view name, double min, double max) const {
  const double value = Get(name).get<double>();
  if (!(value >= min && value <= max)) Refuse(name, fmt::format("a number from {} to {}", min, max));
  return value;
}

bool TaskParameters::Bool(std::string_view name) const { return Get(name).get<bool>(); }

std::string TaskParameters::String(std::string_view name) const { return Get(name).get<std::string>(); }

std::string TaskParameters::Choice(std::string_view name, const std::vector<std::string>& choices) const {
  const std::string value = String(name);
  if (std::find(choices.begin(), choices.end(), value) == choices.end()) {
    std::string list;
    for (const std::string& choice : choices) list += (list.empty() ? "" : " or ") + fmt::format("\"{}\"", choice);
    Refuse(name, list);
  }
  return value;
}

}  // namespace lrnn
