// Matrices as text. Two ways to write the same:
//
//   # a quarter turn                 [[0, -1],
//   0  -1                             [1,  0]]
//   1   0
//
// On the left: a line for each row, numbers separated by blanks, commas or semicolons (so CSV is read, too), # begins a
// comment. On the right: JSON, a list of rows; known by the first character.
#pragma once

#include <string_view>

#include "lrnn/compile/matrix.h"

namespace lrnn {

inline constexpr int kMaxMatrixRows = 512;

// `source` is the name of the text in messages, which give line and column. No rows, rows of different lengths, what is
// no finite number and more than kMaxMatrixRows rows or columns are Errors.
Matrix ReadMatrix(std::string_view text, std::string_view source);

}  // namespace lrnn
