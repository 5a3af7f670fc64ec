// Your own examples as a task, from a file (example_file.h).
//
// Tokens are the symbols of the file, in the order that `symbols` gives or else sorted: integers by value, then the
// others. `length` counts a sequence's tokens. Examples are drawn uniformly, with replacement, from those whose length
// is in the range.
//
// Evaluation uses other examples than training: those of `test_file`, or else those whose tokens have a hash in the
// lowest `test_share` of all hashes. So the split depends on nothing but the sequences themselves, and equal ones are
// always on the same side.
#pragma once

#include "lrnn/tasks/task_info.h"

namespace lrnn {

TaskInfo FileTaskInfo();

}  // namespace lrnn
