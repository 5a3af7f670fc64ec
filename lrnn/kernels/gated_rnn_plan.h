// How a batch of the gated non-linear RNNs is cut into tasks: groups of sequences of similar length, each of their
// heads. The cut depends on the lengths alone, never on the number of threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "lrnn/kernels/gated_rnn.h"
#include "lrnn/kernels/parallel_tasks.h"

namespace lrnn::kernels {

// Rows of scratch and of `saved` are padded to whole vectors of any target.
inline int64_t GatedRnnPaddedWidth(int64_t width) { return (width + 15) / 16 * 16; }

inline int64_t GatedRnnSavedSize(const GatedRnnShape& shape, int64_t saved_per_unit) {
  return shape.cu_seqlens[shape.sequences] * shape.heads * saved_per_unit * GatedRnnPaddedWidth(shape.width);
}

// Sequences that advance together.
struct GatedRnnGroup {
  const int64_t* sequences;  // longest first
  int64_t count;
  int64_t first_token;  // tokens of all groups before
  int64_t tokens;
};

class GatedRnnPlan {
 public:
  explicit GatedRnnPlan(const GatedRnnShape& shape) : order_(shape.sequences) {
    const int64_t N = shape.sequences;
    const auto length = [&](int64_t i) { return int64_t{shape.cu_seqlens[i + 1]} - shape.cu_seqlens[i]; };
    std::iota(order_.begin(), order_.end(), 0);
    std::stable_sort(order_.begin(), order_.end(), [&](int64_t a, int64_t b) { return length(a) > length(b); });
    // 24 rows of gates and the R of a head of 32 fit into the first-level cache; fewer sequences still make 8 tasks.
    const int64_t rows = std::clamp<int64_t>((N + 7) / 8, 6, 24);
    int64_t tokens = 0;
    for (int64_t begin = 0; begin < N; begin += rows) {
      GatedRnnGroup group{order_.data() + begin, std::min(rows, N - begin), tokens, 0};
      for (int64_t i = 0; i < group.count; ++i) group.tokens += length(group.sequences[i]);
      tokens += group.tokens;
      groups_.push_back(group);
    }
  }

  const std::vector<GatedRnnGroup>& groups() const { return groups_; }

 private:
  std::vector<int64_t> order_;
  std::vector<GatedRnnGroup> groups_;
};

// Calls task(shape, in, out, group, head) for all groups and heads.
template <typename T, typename Task>
void RunGatedRnnForward(const GatedRnnShape& shape, const GatedRnnInputs<T>& in, const GatedRnnOutputs<T>& out,
                        int threads, Task task) {
  const GatedRnnPlan plan(shape);
  ParallelTasks(static_cast<int64_t>(plan.groups().size()) * shape.heads, threads,
                [&](int64_t i) { task(shape, in, out, plan.groups()[i / shape.heads], i % shape.heads); });
}

// Calls task(shape, in, saved, d_y, d_final_state, out, group, head, d_bias) for all groups and heads, and adds up what
// each of them leaves in its d_bias.
template <typename T, typename Task>
void RunGatedRnnBackward(const GatedRnnShape& shape, const GatedRnnInputs<T>& in, const T* saved, const T* d_y,
                         const T* d_final_state, const GatedRnnGradients<T>& out, int threads, Task task) {
  const GatedRnnPlan plan(shape);
  const int64_t groups = static_cast<int64_t>(plan.groups().size()), H = shape.heads, size = 4 * shape.width;
  std::vector<T> d_bias(groups * H * size);
  ParallelTasks(groups * H, threads, [&](int64_t i) {
    task(shape, in, saved, d_y, d_final_state, out, plan.groups()[i / H], i % H, d_bias.data() + i * size);
  });
  std::fill_n(out.bias, H * size, T{0});
  for (int64_t group = 0; group < groups; ++group) {
    for (int64_t i = 0; i < H * size; ++i) out.bias[i] += d_bias[group * H * size + i];
  }
}

}  // namespace lrnn::kernels
