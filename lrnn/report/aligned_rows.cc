#include "lrnn/report/aligned_rows.h"

#include <algorithm>

namespace lrnn {
namespace {

size_t Columns(const std::string& text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](unsigned char c) { return (c & 0xC0) != 0x80; }));
}

}  // namespace

std::string AlignRows(const std::vector<std::vector<std::string>>& rows) {
  std::vector<size_t> widths(rows[0].size(), 0);
  for (const auto& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], Columns(row[i]));
  }
  size_t line = 2 * (widths.size() - 1);
  for (size_t width : widths) line += width;
  std::string text;
  for (size_t r = 0; r < rows.size(); ++r) {
    for (size_t i = 0; i < widths.size(); ++i) {
      const std::string blanks(widths[i] - Columns(rows[r][i]), ' ');
      text += i == 0 ? rows[r][i] + blanks : "  " + blanks + rows[r][i];
    }
    text += '\n';
    if (r == 0) text += std::string(line, '-') + "\n";
  }
  return text;
}

}  // namespace lrnn
