// Typed access to the fields of a JSON object such as config.json, with errors that give the place:
//
//   model/config.json: field "hidden_size": expected an integer, got "abc"
//
// A field that is null counts as missing: Hugging Face configs write null for "use the default".
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace lrnn {

class Fields {
 public:
  // `source` is the place named in errors, usually the path of the file. The value must be a JSON object.
  Fields(nlohmann::json object, std::string source);

  bool Has(std::string_view name) const;  // present and not null

  // Without a default the field must be there.
  int64_t Int(std::string_view name) const;
  int64_t Int(std::string_view name, int64_t otherwise) const;
  int64_t PositiveInt(std::string_view name) const;  // 1 .. 2^31-1: the product of two sizes fits
  int64_t PositiveInt(std::string_view name, int64_t otherwise) const;
  double Double(std::string_view name) const;  // an integer is a number too
  double Double(std::string_view name, double otherwise) const;
  bool Bool(std::string_view name) const;
  bool Bool(std::string_view name, bool otherwise) const;
  std::string String(std::string_view name) const;
  std::string String(std::string_view name, std::string_view otherwise) const;
  std::vector<std::string> Strings(std::string_view name) const;  // an array of strings
  Fields Object(std::string_view name) const;                     // its errors name "outer.inner"

  // Throws `source: field "name": expected <expected>, got <value>`, for rules that only the caller knows.
  [[noreturn]] void Refuse(std::string_view name, std::string_view expected) const;

  const nlohmann::json& json() const { return object_; }
  const std::string& source() const { return source_; }

 private:
  const nlohmann::json* Find(std::string_view name) const;  // nullptr: missing or null
  const nlohmann::json& Get(std::string_view name) const;

  nlohmann::json object_;
  std::string source_;
  std::string prefix_;  // "lrnn." inside the field "lrnn"
};

}  // namespace lrnn
