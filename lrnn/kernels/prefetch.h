// Asks for rows of memory ahead of their use.
//
// Kernels that step through time read one head's share of each token: the next row lies heads * width further, often on
// another page, where the machine's own prefetching does not follow.
#pragma once

#include <hwy/base.h>

#include <cstddef>
#include <cstdint>

namespace lrnn::kernels {

// Also worth it for a row that will be written: stores leave a core in order, and one to a line that is not there holds
// up all others. The row may lie outside of its array.
// Always inline: GCC drops calls of functions that do nothing but prefetch.
template <typename T>
HWY_INLINE void PrefetchRow(const T* row, int64_t size) {
  for (int64_t i = 0; i < size; i += 64 / sizeof(T)) __builtin_prefetch(row + i);
}

// Several rows of one size.
template <typename T, size_t kCount>
HWY_INLINE void PrefetchRows(const T* const (&rows)[kCount], int64_t size) {
  for (int64_t i = 0; i < size; i += 64 / sizeof(T)) {
    for (const T* row : rows) __builtin_prefetch(row + i);
  }
}

}  // namespace lrnn::kernels
