// Examples of a task as one packed batch.
#pragma once

#include <cstdint>
#include <vector>

#include "lrnn/tasks/task.h"

namespace lrnn {

struct Batch {
  std::vector<int64_t> tokens;      // [T], the sequences one after the other
  std::vector<int32_t> cu_seqlens;  // [N + 1]
  std::vector<int64_t> rows;        // where a target is, ascending
  std::vector<int64_t> targets;     // what it is, for each of `rows`
};

// Examples first .. first + count - 1 of the data set that `seed` names. Example i is the same whichever batch it comes
// in and however many threads draw it; its length is drawn from the range as the task does.
Batch MakeBatch(const Task& task, LengthRange lengths, uint64_t seed, uint64_t first, int64_t count, int threads);

}  // namespace lrnn
