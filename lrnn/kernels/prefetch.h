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
    const int64_t size = sizeof(T), lines = (width * size + kLine - 1) / kLine;
    const char* line = reinterpret_cast<const char*>(first);
    queue_[pieces_++] = lines >= rows ? Runs{line, lines, rows, kLine, stride * size, lines}
                                      : Runs{line, rows, lines, stride * size, kLine, rows};
  }

  // Lines at one distance from each other.
  struct Lines {
    // Asks for the next. No branch: one in each turn of a loop of multiply-adds cost a tenth of a backward pass.
    HWY_INLINE void Next() {
      __builtin_prefetch(line, 0, 2);
      line += step;
    }
    const char* line;
    int64_t step;
  };

  // The next lines, for `most` calls of Next at most. The last may lie behind the rows, which does no harm.
  HWY_INLINE Lines Take(int64_t most) {
    if (piece_ == pieces_) return {reinterpret_cast<const char*>(this), 0};
    Runs& runs = queue_[piece_];
    const Lines lines{runs.line, runs.step};
    runs.left -= most;
    runs.line += most * runs.step;
    if (runs.left <= 0) {
      runs.line += (runs.left - runs.lines) * runs.step + runs.next;
      runs.left = runs.lines;
      if (--runs.runs == 0) ++piece_;
    }
    return lines;
  }

 private:
  static constexpr int64_t kLine = 64;
  static constexpr int kMostPieces = 12;

  // Rows of one width and stride as runs of lines, along the rows or across them, whichever is longer.
  struct Runs {
    const char* line;
    int64_t left, runs;  // lines left of the first run, and runs left
    int64_t step, next;  // bytes from line to line and from run to run
    int64_t lines;       // of a run
  };

  Runs queue_[kMostPieces];
  int pieces_ = 0, piece_ = 0;  // how many, and the first with lines left
};

}  // namespace lrnn::kernels
