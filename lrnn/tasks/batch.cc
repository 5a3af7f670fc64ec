#include "lrnn/tasks/batch.h"

#include <algorithm>

#include "lrnn/base/error.h"
#include "lrnn/base/parallel.h"

namespace lrnn {

Batch MakeBatch(const Task& task, LengthRange lengths, uint64_t seed, uint64_t first, int64_t count, int threads) {
  CheckLengths(task, lengths);
  Batch batch;
  batch.cu_seqlens.push_back(0);
  std::vector<int64_t> drawn;
  std::vector<Rng> generators;
  for (int64_t i = 0; i < count; ++i) {
    generators.emplace_back(seed, first + static_cast<uint64_t>(i));
    drawn.push_back(task.DrawLength(lengths, generators.back()));
    const int64_t end = batch.cu_seqlens.back() + task.tokens(drawn.back());
    LRNN_CHECK(end <= INT32_MAX, "[MakeBatch] expected fewer than 2^31 tokens in a batch, got {} and more", end);
    batch.cu_seqlens.push_back(static_cast<int32_t>(end));
  }

  std::vector<int32_t> tokens(batch.cu_seqlens.back()), targets(tokens.size());
  constexpr int64_t kExamplesPerTask = 64;
  ParallelFor((count + kExamplesPerTask - 1) / kExamplesPerTask, threads, [&](int64_t group) {
    for (int64_t i = group * kExamplesPerTask; i < std::min(count, (group + 1) * kExamplesPerTask); ++i) {
      const size_t begin = batch.cu_seqlens[i], size = batch.cu_seqlens[i + 1] - begin;
      task.Open(drawn[i], generators[i])
          ->Read(std::span(tokens).subspan(begin, size), std::span(targets).subspan(begin, size));
    }
  });

  batch.tokens.assign(tokens.begin(), tokens.end());
  for (size_t row = 0; row < targets.size(); ++row) {
    if (targets[row] == kNoTarget) continue;
    batch.rows.push_back(static_cast<int64_t>(row));
    batch.targets.push_back(targets[row]);
  }
  return batch;
}

}  // namespace lrnn
