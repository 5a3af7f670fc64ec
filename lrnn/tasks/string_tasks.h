// Rearranging a string (Delétang et al.): symbols 0 .. k-1, independent and uniform, then as many <out> as the answer
// has symbols.
//
//   reverse_string    the string backwards
//   duplicate_string  the string twice
//   odds_first        the 1st, 3rd, ... symbol, then the 2nd, 4th, ...
//   bucket_sort       the symbols in ascending order
//
// k is 2, for bucket_sort 5, unless given.
#pragma once

#include "lrnn/tasks/task_info.h"

namespace lrnn {

TaskInfo ReverseStringInfo();
TaskInfo DuplicateStringInfo();
TaskInfo OddsFirstInfo();
TaskInfo BucketSortInfo();

}  // namespace lrnn
