#include "lrnn/tasks/example_file.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string_view>

#include "lrnn/base/error.h"
#include "lrnn/tasks/text_file.h"

namespace lrnn {
namespace {

constexpr const char* kNone = "null";  // in a list of targets that is written as text

std::vector<std::string> SplitAtBlanks(const std::string& text) {
  std::istringstream words(text);
  std::vector<std::string> result;
  for (std::string word; words >> word;) result.push_back(word);
  return result;
}

// One line, and the place that its errors name.
class Line {
 public:
  Line(const std::string& path, int number) : path_(path), number_(number) {}

  int number() const { return number_; }

  template <typename... Args>
  [[noreturn]] void Complain(fmt::format_string<Args...> format, Args&&... args) const {
    Fail("{}:{}: {}", path_, number_, fmt::format(format, std::forward<Args>(args)...));
  }

  // Puts the parts of an example together: exactly one of `targets` and `target` is given.
  FileExample Example(std::vector<std::string> tokens, std::optional<std::vector<std::string>> targets,
                      const std::optional<std::string>& target) const {
    if (tokens.empty()) Complain("expected at least one token");
    if (targets.has_value() == target.has_value()) Complain("expected either \"targets\" or \"target\"");
    if (!targets) {
      targets.emplace(tokens.size());
      targets->back() = *target;
    }
    if (targets->size() != tokens.size()) {
      Complain("expected a target or null for each of the {} tokens, got {}", tokens.size(), targets->size());
    }
    if (std::all_of(targets->begin(), targets->end(), [](const auto& each) { return each.empty(); })) {
      Complain("expected at least one target");
    }
    return {std::move(tokens), std::move(*targets), number_};
  }

 private:
  const std::string& path_;
  int number_;
};

// Calls read(line, text) for each line that is not blank.
template <typename Read>
void ForEachLine(const std::string& path, const Read& read) {
  std::istringstream text(ReadTextFile(path));
  std::string line;
  for (int number = 1; std::getline(text, line); ++number) {
    if (line.ends_with('\r')) line.pop_back();
    if (line.find_first_not_of(" \t") != std::string::npos) read(Line(path, number), line);
  }
}

std::string Symbol(const Line& line, const nlohmann::json& value) {
  if (value.is_number_integer()) return value.dump();
  const std::string text = value.is_string() ? value.get<std::string>() : "";
  if (text.empty() || text.find_first_of(" \t\n\r") != std::string::npos) {
    line.Complain("expected a symbol (a string without blanks, or an integer), got {}", value.dump());
  }
  return text;
}

std::vector<std::string> Symbols(const Line& line, const nlohmann::json& value, bool null_is_none) {
  if (value.is_string()) {
    std::vector<std::string> symbols = SplitAtBlanks(value.get<std::string>());
    if (null_is_none) std::replace(symbols.begin(), symbols.end(), std::string(kNone), std::string());
    return symbols;
  }
  if (!value.is_array()) line.Complain("expected a list of symbols, got {}", value.dump());
  std::vector<std::string> symbols;
  for (const auto& each : value) {
    symbols.push_back(null_is_none && each.is_null() ? "" : Symbol(line, each));
  }
  return symbols;
}

FileExample ParseJsonLine(const Line& line, const std::string& text) {
  const nlohmann::json value = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!value.is_object()) line.Complain("expected a JSON object with \"tokens\" and \"targets\" or \"target\"");
  if (!value.contains("tokens")) line.Complain("\"tokens\" is missing");
  std::optional<std::vector<std::string>> targets;
  std::optional<std::string> target;
  if (value.contains("targets")) targets = Symbols(line, value.at("targets"), /*null_is_none=*/true);
  if (value.contains("target")) target = Symbol(line, value.at("target"));
  return line.Example(Symbols(line, value.at("tokens"), /*null_is_none=*/false), std::move(targets), target);
}

// The fields of a line of CSV, quotes taken away.
std::vector<std::string> Fields(const Line& line, std::string_view text) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (quoted && text.substr(i, 2) == "\"\"") {
      fields.back() += text[i++];
    } else if (text[i] == '"') {
      quoted = !quoted;
    } else if (text[i] == ',' && !quoted) {
      fields.emplace_back();
    } else {
      fields.back() += text[i];
    }
  }
  if (quoted) line.Complain("a quote is not closed");
  return fields;
}

class CsvReader {
 public:
  void Read(const Line& line, const std::string& text, std::vector<FileExample>& examples) {
    const std::vector<std::string> fields = Fields(line, text);
    if (columns_ == 0) return ReadHeader(line, fields);
    if (fields.size() != columns_) line.Complain("expected {} fields, got {}", columns_, fields.size());
    std::optional<std::vector<std::string>> targets;
    std::optional<std::string> target;
    if (targets_) {
      targets = SplitAtBlanks(fields[*targets_]);
      std::replace(targets->begin(), targets->end(), std::string(kNone), std::string());
    } else {
      const auto words = SplitAtBlanks(fields[*target_]);
      if (words.size() != 1) line.Complain("expected one target, got \"{}\"", fields[*target_]);
      target = words[0];
    }
    examples.push_back(line.Example(SplitAtBlanks(fields[*tokens_]), std::move(targets), target));
  }

 private:
  void ReadHeader(const Line& line, const std::vector<std::string>& fields) {
    columns_ = fields.size();
    const auto find = [&](std::string_view name) -> std::optional<size_t> {
      const auto at = std::find(fields.begin(), fields.end(), name);
      if (at == fields.end()) return std::nullopt;
      return at - fields.begin();
    };
    tokens_ = find("tokens");
    targets_ = find("targets");
    target_ = find("target");
    if (!tokens_ || targets_.has_value() == target_.has_value()) {
      line.Complain("expected a header with the columns tokens and either targets or target");
    }
  }

  size_t columns_ = 0;  // 0: the header is not read yet
  std::optional<size_t> tokens_, targets_, target_;
};

}  // namespace

std::vector<FileExample> ReadExamples(const std::string& path) {
  std::vector<FileExample> examples;
  if (path.ends_with(".jsonl")) {
    ForEachLine(path,
                [&](const Line& line, const std::string& text) { examples.push_back(ParseJsonLine(line, text)); });
  } else {
    LRNN_CHECK(path.ends_with(".csv"), "{}: expected a file name that ends in .jsonl or .csv", path);
    CsvReader reader;
    ForEachLine(path, [&](const Line& line, const std::string& text) { reader.Read(line, text, examples); });
  }
  LRNN_CHECK(!examples.empty(), "{}: expected at least one example", path);
  return examples;
}

}  // namespace lrnn
