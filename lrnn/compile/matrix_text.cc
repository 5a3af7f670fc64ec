#include "lrnn/compile/matrix_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "lrnn/automata/text_place.h"
#include "lrnn/base/error.h"
#include "lrnn/io/json_file.h"

namespace lrnn {
namespace {

Matrix FromRows(const std::vector<std::vector<double>>& rows) {
  Matrix matrix(static_cast<int>(rows.size()), static_cast<int>(rows[0].size()));
  for (size_t i = 0; i < rows.size(); ++i)
    std::copy(rows[i].begin(), rows[i].end(), matrix.row(static_cast<int>(i)).begin());
  return matrix;
}

double ParseNumber(const SourceText& source, size_t place, std::string_view word) {
  const std::string_view digits = word.starts_with('+') ? word.substr(1) : word;
  double value = 0.0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size() || !std::isfinite(value)) {
    source.FailAt(place, "expected a finite number, got '{}'", word);
  }
  return value;
}

void CheckSize(const SourceText& source, size_t place, size_t rows, size_t columns) {
  if (rows > kMaxMatrixRows || columns > kMaxMatrixRows) {
    source.FailAt(place, "at most {} rows and columns are read", kMaxMatrixRows);
  }
}

Matrix ReadRows(const SourceText& source) {
  std::vector<std::vector<double>> rows;
  for (size_t line = 0; line < source.text.size();) {
    const size_t next = std::min(source.text.find('\n', line), source.text.size());
    const std::string_view text = source.text.substr(line, next - line);
    const std::string_view content = text.substr(0, text.find('#'));
    constexpr std::string_view kSeparators = " \t\r,;";
    std::vector<double> row;
    for (size_t at = content.find_first_not_of(kSeparators); at != std::string_view::npos;) {
      const size_t end = std::min(content.find_first_of(kSeparators, at), content.size());
      row.push_back(ParseNumber(source, line + at, content.substr(at, end - at)));
      CheckSize(source, line + at, rows.size() + 1, row.size());
      at = content.find_first_not_of(kSeparators, end);
    }
    if (!row.empty()) {
      if (!rows.empty() && row.size() != rows[0].size()) {
        source.FailAt(line, "this row has {} numbers, the first has {}", row.size(), rows[0].size());
      }
      rows.push_back(std::move(row));
    }
    line = next + 1;
  }
  if (rows.empty()) source.FailAt(source.text.size(), "expected rows of numbers, got none");
  return FromRows(rows);
}

Matrix ReadJsonRows(const SourceText& source) {
  std::vector<std::vector<double>> rows;
  for (const nlohmann::json& row : ParseJson(source.text, source.source)) {
    LRNN_CHECK(row.is_array() && !row.empty(), "{}: row {}: expected a list of numbers", source.source,
               rows.size() + 1);
    CheckSize(source, 0, rows.size() + 1, row.size());
    std::vector<double>& numbers = rows.emplace_back();
    for (const nlohmann::json& number : row) {
      LRNN_CHECK(number.is_number(), "{}: row {}: expected a number, got {}", source.source, rows.size(),
                 number.dump());
      numbers.push_back(number.get<double>());
    }
    LRNN_CHECK(numbers.size() == rows[0].size(), "{}: row {} has {} numbers, the first has {}", source.source,
               rows.size(), numbers.size(), rows[0].size());
  }
  LRNN_CHECK(!rows.empty(), "{}: expected rows of numbers, got none", source.source);
  return FromRows(rows);
}

}  // namespace

Matrix ReadMatrix(std::string_view text, std::string_view source) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  const bool is_json = first != std::string_view::npos && text[first] == '[';
  return is_json ? ReadJsonRows({text, source}) : ReadRows({text, source});
}

}  // namespace lrnn
