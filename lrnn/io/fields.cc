#include "lrnn/io/fields.h"

#include <limits>
#include <utility>

#include "lrnn/base/error.h"

namespace lrnn {
namespace {

// The value as in the file, cut when it is long.
std::string Show(const nlohmann::json& value) {
  const std::string text = value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return text.size() <= 60 ? text : text.substr(0, 57) + "...";
}

bool IsInt64(const nlohmann::json& value) {
  if (value.is_number_unsigned()) return value.get<uint64_t>() <= uint64_t{std::numeric_limits<int64_t>::max()};
  return value.is_number_integer();
}

}  // namespace

Fields::Fields(nlohmann::json object, std::string source) : object_(std::move(object)), source_(std::move(source)) {
  LRNN_CHECK(object_.is_object(), "{}: expected a JSON object, got {}", source_, Show(object_));
}

const nlohmann::json* Fields::Find(std::string_view name) const {
  const auto field = object_.find(name);
  return field == object_.end() || field->is_null() ? nullptr : &*field;
}

const nlohmann::json& Fields::Get(std::string_view name) const {
  const nlohmann::json* field = Find(name);
  LRNN_CHECK(field != nullptr, "{}: field \"{}{}\" is missing", source_, prefix_, name);
  return *field;
}

void Fields::Refuse(std::string_view name, std::string_view expected) const {
  Fail("{}: field \"{}{}\": expected {}, got {}", source_, prefix_, name, expected, Show(Get(name)));
}

bool Fields::Has(std::string_view name) const { return Find(name) != nullptr; }

int64_t Fields::Int(std::string_view name) const {
  const nlohmann::json& field = Get(name);
  if (!IsInt64(field)) Refuse(name, "an integer");
  return field.get<int64_t>();
}

int64_t Fields::Int(std::string_view name, int64_t otherwise) const { return Has(name) ? Int(name) : otherwise; }

int64_t Fields::PositiveInt(std::string_view name) const {
  const nlohmann::json& field = Get(name);
  if (!IsInt64(field) || field.get<int64_t>() < 1) Refuse(name, "a positive integer");
  if (field.get<int64_t>() > std::numeric_limits<int32_t>::max()) Refuse(name, "an integer below 2^31");
  return field.get<int64_t>();
}

int64_t Fields::PositiveInt(std::string_view name, int64_t otherwise) const {
  return Has(name) ? PositiveInt(name) : otherwise;
}

double Fields::Double(std::string_view name) const {
  const nlohmann::json& field = Get(name);
  if (!field.is_number()) Refuse(name, "a number");
  return field.get<double>();
}

double Fields::Double(std::string_view name, double otherwise) const { return Has(name) ? Double(name) : otherwise; }

bool Fields::Bool(std::string_view name) const {
  const nlohmann::json& field = Get(name);
  if (!field.is_boolean()) Refuse(name, "true or false");
  return field.get<bool>();
}

bool Fields::Bool(std::string_view name, bool otherwise) const { return Has(name) ? Bool(name) : otherwise; }

std::string Fields::String(std::string_view name) const {
  const nlohmann::json& field = Get(name);
  if (!field.is_string()) Refuse(name, "a string");
  return field.get<std::string>();
}

std::string Fields::String(std::string_view name, std::string_view otherwise) const {
  return Has(name) ? String(name) : std::string(otherwise);
}

std::vector<std::string> Fields::Strings(std::string_view name) const {
  const nlohmann::json& field = Get(name);
  if (!field.is_array()) Refuse(name, "a list of strings");
  std::vector<std::string> strings;
  for (const nlohmann::json& item : field) {
    if (!item.is_string()) Refuse(name, "a list of strings");
    strings.push_back(item.get<std::string>());
  }
  return strings;
}

Fields Fields::Object(std::string_view name) const {
  const nlohmann::json& field = Get(name);
  if (!field.is_object()) Refuse(name, "an object");
  Fields inner(field, source_);
  inner.prefix_ = fmt::format("{}{}.", prefix_, name);
  return inner;
}

}  // namespace lrnn
