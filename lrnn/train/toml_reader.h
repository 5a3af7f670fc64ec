// Typed access to a section of a TOML file, with errors that give the place:
//
//   parity.toml:7: [train] unknown key "step" (did you mean "steps"?)
#pragma once

#include <toml++/toml.h>

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace lrnn {

// Parses the text of a file; a syntax error names file, line and column.
toml::table ParseToml(std::string_view text, const std::string& file);

// Sets a dotted key from the command line: "train.steps=100". The value is TOML; what is not TOML is taken as a string.
void OverrideToml(toml::table& table, const std::string& assignment);

class TomlSection {
 public:
  // The section may be missing: then only defaults are found.
  TomlSection(const toml::table& root, std::string name, std::string file);

  bool Has(std::string_view key) const;

  // Without a default the key must be there.
  std::string String(std::string_view key);
  std::string String(std::string_view key, std::string_view otherwise);
  int64_t Int(std::string_view key, int64_t min);
  int64_t Int(std::string_view key, int64_t otherwise, int64_t min);
  double Double(std::string_view key, double min);
  double Double(std::string_view key, double otherwise, double min);
  std::pair<int64_t, int64_t> Range(std::string_view key);  // [low, high], low <= high
  const toml::node& Node(std::string_view key);

  // The keys that nobody asked for, in order.
  std::vector<std::string> Unread() const;
  // Throws when there are keys that nobody asked for; suggests one that exists.
  void RefuseUnread(const std::vector<std::string>& more_known = {}) const;

  [[noreturn]] void Refuse(std::string_view key, const std::string& expected) const;  // ... expected X, got Y
  [[noreturn]] void Complain(std::string_view key, const std::string& message) const;

  // "file:line: [section]" of a key, or of the section if it has no such key; "--set: [section]" for one from there.
  std::string Place(std::string_view key) const;

 private:
  const toml::table* table_;  // null: the section is missing
  std::string name_;
  std::string file_;
  std::set<std::string, std::less<>> asked_;
};

}  // namespace lrnn
