#include "lrnn/report/field_checks.h"

#include <fmt/format.h>

#include "lrnn/base/error.h"

namespace lrnn {

void CheckFormat(const Fields& fields, std::string_view format, int64_t version) {
  if (fields.String("format") != format) fields.Refuse("format", fmt::format("\"{}\"", format));
  if (fields.Int("version") != version) fields.Refuse("version", fmt::format("{}", version));
}

void CheckTask(const Fields& fields, std::string_view task) {
  if (fields.String("task") != task) fields.Refuse("task", fmt::format("\"{}\" as in config.toml", task));
}

int64_t NonNegativeInt(const Fields& fields, std::string_view name) {
  const int64_t value = fields.Int(name);
  if (value < 0) fields.Refuse(name, "an integer that is not negative");
  return value;
}

double NonNegative(const Fields& fields, std::string_view name) {
  const double value = fields.Double(name);
  if (!(value >= 0)) fields.Refuse(name, "a number that is not negative");
  return value;
}

nlohmann::json LengthRange(const Fields& fields, std::string_view name) {
  if (!fields.Has(name)) fields.Int(name);  // says that it is missing
  const nlohmann::json& range = fields.json().at(std::string(name));
  const bool is_range = range.is_array() && range.size() == 2 && range[0].is_number_integer() &&
                        range[1].is_number_integer() && range[0].get<int64_t>() >= 1 &&
                        range[0].get<int64_t>() <= range[1].get<int64_t>();
  if (!is_range) fields.Refuse(name, "two lengths [low, high]");
  return range;
}

std::vector<double> Numbers(const Fields& fields, std::string_view name) {
  if (!fields.Has(name)) fields.Double(name);  // says that it is missing
  const nlohmann::json& list = fields.json().at(std::string(name));
  if (!list.is_array()) fields.Refuse(name, "a list of numbers");
  std::vector<double> numbers;
  for (const nlohmann::json& item : list) {
    if (!item.is_number()) fields.Refuse(name, "a list of numbers");
    numbers.push_back(item.get<double>());
  }
  return numbers;
}

std::vector<Fields> Objects(const Fields& fields, std::string_view name) {
  if (!fields.Has(name)) fields.Object(name);  // says that it is missing
  const nlohmann::json& list = fields.json().at(std::string(name));
  if (!list.is_array()) fields.Refuse(name, "a list of objects");
  std::vector<Fields> objects;
  for (size_t i = 0; i < list.size(); ++i)
    objects.emplace_back(list[i], fmt::format("{}: {}[{}]", fields.source(), name, i));
  return objects;
}

}  // namespace lrnn
