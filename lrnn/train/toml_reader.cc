#include "lrnn/train/toml_reader.h"

#include <algorithm>
#include <numeric>
#include <sstream>

#include "lrnn/base/error.h"

namespace lrnn {
namespace {

std::string Text(const toml::node& node) {
  std::ostringstream out;
  node.visit([&](const auto& value) { out << value; });
  return out.str();
}

// Edits that turn one word into the other.
size_t Distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

toml::table ParseToml(std::string_view text, const std::string& file) {
  try {
    return toml::parse(text, file);
  } catch (const toml::parse_error& error) {
    const auto& place = error.source().begin;
    Fail("{}:{}:{}: {}", file, place.line, place.column, error.description());
  }
}

void OverrideToml(toml::table& table, const std::string& assignment) {
  const size_t equals = assignment.find('=');
  LRNN_CHECK(equals != std::string::npos && equals > 0, "--set: expected key=value, got \"{}\"", assignment);
  const std::string path = assignment.substr(0, equals), value = assignment.substr(equals + 1);
  const size_t dot = path.find('.');
  LRNN_CHECK(
      dot != std::string::npos && dot > 0 && dot + 1 < path.size() && path.find('.', dot + 1) == std::string::npos,
      "--set: expected section.key=value, got \"{}\"", assignment);
  const std::string section = path.substr(0, dot), key = path.substr(dot + 1);
  if (!table.contains(section)) table.insert(section, toml::table{});
  toml::table* target = table[section].as_table();
  LRNN_CHECK(target, "--set: \"{}\" is not a section", section);
  toml::table parsed;
  try {
    parsed = toml::parse("value = " + value);
  } catch (const toml::parse_error&) {
    parsed.insert_or_assign("value", value);
  }
  parsed["value"].visit([&](const auto& node) { target->insert_or_assign(key, node); });
}

TomlSection::TomlSection(const toml::table& root, std::string name, std::string file)
    : table_(nullptr), name_(std::move(name)), file_(std::move(file)) {
  const toml::node* node = root.get(name_);
  if (!node) return;
  table_ = node->as_table();
  LRNN_CHECK(table_, "{}:{}: expected [{}] to be a section, got {}", file_, node->source().begin.line, name_,
             Text(*node));
}

bool TomlSection::Has(std::string_view key) const { return table_ && table_->contains(key); }

std::string TomlSection::Place(std::string_view key) const {
  const toml::node* node = table_ ? table_->get(key) : nullptr;
  const toml::node* at = node ? node : table_;
  const auto line = at ? at->source().begin.line : 0;
  if (line > 0) return fmt::format("{}:{}: [{}]", file_, line, name_);
  return fmt::format("{}: [{}]", node ? "--set" : file_, name_);  // a node without a place came from the command line
}

void TomlSection::Complain(std::string_view key, const std::string& message) const {
  Fail("{} {}", Place(key), message);
}

void TomlSection::Refuse(std::string_view key, const std::string& expected) const {
  Fail("{} {}: expected {}, got {}", Place(key), key, expected, Text(*table_->get(key)));
}

const toml::node& TomlSection::Node(std::string_view key) {
  asked_.emplace(key);
  if (!Has(key)) Complain(key, fmt::format("key \"{}\" is missing", key));
  return *table_->get(key);
}

std::string TomlSection::String(std::string_view key) {
  const auto value = Node(key).value<std::string>();
  if (!value) Refuse(key, "a string");
  return *value;
}

std::string TomlSection::String(std::string_view key, std::string_view otherwise) {
  asked_.emplace(key);
  return Has(key) ? String(key) : std::string(otherwise);
}

int64_t TomlSection::Int(std::string_view key, int64_t min) {
  const auto value = Node(key).value_exact<int64_t>();
  if (!value || *value < min) Refuse(key, fmt::format("an integer of at least {}", min));
  return *value;
}

int64_t TomlSection::Int(std::string_view key, int64_t otherwise, int64_t min) {
  asked_.emplace(key);
  return Has(key) ? Int(key, min) : otherwise;
}

double TomlSection::Double(std::string_view key, double min) {
  const auto value = Node(key).value<double>();
  if (!value || !(*value >= min) || *value > 1e300) Refuse(key, fmt::format("a number of at least {}", min));
  return *value;
}

double TomlSection::Double(std::string_view key, double otherwise, double min) {
  asked_.emplace(key);
  return Has(key) ? Double(key, min) : otherwise;
}

std::pair<int64_t, int64_t> TomlSection::Range(std::string_view key) {
  const toml::array* array = Node(key).as_array();
  if (!array || array->size() != 2) Refuse(key, "two integers [shortest, longest]");
  const auto low = (*array)[0].value_exact<int64_t>(), high = (*array)[1].value_exact<int64_t>();
  if (!low || !high || *low < 1 || *low > *high) Refuse(key, "two integers [shortest, longest]");
  return {*low, *high};
}

std::vector<std::string> TomlSection::Unread() const {
  std::vector<std::string> keys;
  if (!table_) return keys;
  for (const auto& [key, node] : *table_) {
    if (!asked_.contains(key.str())) keys.emplace_back(key.str());
  }
  return keys;
}

void TomlSection::RefuseUnread(const std::vector<std::string>& more_known) const {
  const auto unread = Unread();
  if (unread.empty()) return;
  std::vector<std::string> known(asked_.begin(), asked_.end());
  known.insert(known.end(), more_known.begin(), more_known.end());
  const std::string& key = unread.front();
  const auto nearest = std::min_element(
      known.begin(), known.end(), [&](const auto& a, const auto& b) { return Distance(a, key) < Distance(b, key); });
  const bool is_near = nearest != known.end() && Distance(*nearest, key) <= std::max<size_t>(1, key.size() / 3);
  Complain(key,
           fmt::format("unknown key \"{}\"{}", key, is_near ? fmt::format(" (did you mean \"{}\"?)", *nearest) : ""));
}

}  // namespace lrnn
