// Rows of text as a table for the terminal.
#pragma once

#include <string>
#include <vector>

namespace lrnn {

// Columns two spaces apart, the first to the left and the others to the right, a line under the first row. Every row
// has as many cells as the first. UTF-8 counts by characters.
std::string AlignRows(const std::vector<std::vector<std::string>>& rows);

}  // namespace lrnn
