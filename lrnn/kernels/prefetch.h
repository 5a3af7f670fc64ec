// Asks for rows of memory ahead of their use.
//
// Kernels that step through time read one head's share of each token: the next row lies heads * width further, often on
// another page, where the machine's own prefetching does not follow.
#pragma once

#include <hwy/base.h>

#include <algorithm>
#include <cstdint>

namespace lrnn::kernels {

// Also worth it for a row that will be written: stores leave a core in order, and one to a line that is not there holds
// up all others. The row may lie outside of its array.
// Always inline: GCC drops calls of functions that do nothing but prefetch.
template <typename T>
HWY_INLINE void PrefetchRow(const T* row, int64_t size) {
  for (int64_t i = 0; i < size; i += 64 / sizeof(T)) __builtin_prefetch(row + i);
}

// Rows that will be needed soon, asked for line by line while other work goes on, into the second-level cache: a burst
// of requests would fill the buffers in which a core keeps track of them, and what it works on would have to wait.
class PrefetchQueue {
 public:
  void Clear() { pieces_ = piece_ = 0; }

  // `rows` rows of `width` numbers.
  template <typename T>
  void Add(const T* first, int64_t rows, int64_t width, int64_t stride) {
    if (rows <= 0) return;
    if (width == stride) width *= rows, stride = width, rows = 1;  // side by side
    const int64_t size = sizeof(T);
    const char* line = reinterpret_cast<const char*>(first);
    queue_[pieces_++] = {line, line + width * size, stride * size, (stride - width) * size,
                         rows * ((width * size + kLine - 1) / kLine)};
  }

  // Lines of rows that have one width and stride.
  struct Lines {
    // Asks for the next, if there is one.
    HWY_INLINE void Next() {
      if (left <= 0) return;
      --left;
      __builtin_prefetch(line, 0, 2);
      line += kLine;
      if (line >= row_end) line = row_end + gap, row_end += stride;
    }
    const char *line, *row_end;
    int64_t stride, gap;  // bytes from row to row, and from the end of one to the start of the next
    int64_t left;         // lines
  };

  // The next lines, `most` at most, to be asked for by the caller; what is not asked for of them is lost.
  Lines Take(int64_t most) {
    if (piece_ == pieces_) return {};
    Lines& piece = queue_[piece_];
    Lines lines = piece;
    if (lines.left <= most) {
      ++piece_;
      return lines;
    }
    lines.left = most;
    piece.left -= most;
    const int64_t lines_of_row = (piece.stride - piece.gap + kLine - 1) / kLine;
    for (int64_t rest = (piece.row_end - piece.line + kLine - 1) / kLine; most >= rest; rest = lines_of_row) {
      most -= rest;
      piece.line = piece.row_end + piece.gap, piece.row_end += piece.stride;
    }
    piece.line += most * kLine;
    return lines;
  }

 private:
  static constexpr int64_t kLine = 64;
  static constexpr int kMostPieces = 12;

  Lines queue_[kMostPieces];
  int pieces_ = 0, piece_ = 0;  // how many, and the first with lines left
};

}  // namespace lrnn::kernels
