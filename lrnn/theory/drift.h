// How long groups stay right when their weights are rounded: rotations of a plane, swaps by keys of norm 1, the
// icosahedral group in three dimensions; and exact keys beside them.
//
//   fp32         weights and state
//   bf16 keys    weights rounded to bf16, arithmetic and state in fp32
//   bf16         every operation rounded
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace lrnn {

struct Drift {
  std::string representation;  // "Z_60 rotation"
  std::string word;            // "one letter" or "random letters"
  std::string arithmetic;
  int64_t tokens = 0;     // that were read
  int64_t wrong_at = -1;  // the first token after which the wrong state is read; -1: none
  double error = 0.0;     // of the state at the end, in the units of `limit`: the angle, or the largest coordinate
  double limit = 0.0;     // the error at which the state is read wrong
};

// Each representation, word and arithmetic, up to `tokens` tokens or the first error; `done` sees each when it is
// there.
void MeasureDrift(int64_t tokens, uint64_t seed, const std::function<void(const Drift&)>& done);

}  // namespace lrnn
