// Packed sequences and heads as units of parallel work: neighbouring short sequences share one task, so that a task is
// worth a thread's while. The groups depend on the lengths alone, never on the thread count.
#pragma once

#include <cstdint>
#include <vector>

namespace lrnn::kernels {

struct SequenceGroup {
  int64_t begin;  // sequences begin .. end-1
  int64_t end;
};

// Heads begin .. end-1, which one task takes in turns.
struct HeadRange {
  int64_t count() const { return end - begin; }
  int64_t begin, end;
};

// Consecutive sequences, as few to a group as make `tokens` tokens.
inline std::vector<SequenceGroup> GroupSequences(const int32_t* cu_seqlens, int64_t sequences, int64_t tokens) {
  std::vector<SequenceGroup> groups;
  for (int64_t begin = 0; begin < sequences;) {
    int64_t end = begin + 1;
    while (end < sequences && cu_seqlens[end] - cu_seqlens[begin] < tokens) ++end;
    groups.push_back({begin, end});
    begin = end;
  }
  return groups;
}

}  // namespace lrnn::kernels
