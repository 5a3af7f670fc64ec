// A synthetic task: sequences of tokens, of any length, with the tokens a model should predict at some of the
// positions.
//
// `length` counts a sequence's tokens including the answer, as the paper does; the model reads the length - 1 tokens
// before it, and the answer is predicted at the last of them.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "lrnn/base/rng.h"

namespace lrnn {

constexpr int32_t kNoTarget = -1;

// One example, read from left to right in pieces of any size, so that a million tokens need no memory.
class ExampleStream {
 public:
  virtual ~ExampleStream() = default;

  // The next tokens.size() tokens the model reads and, for each, what it should predict there or kNoTarget. Reads no
  // further than the end.
  virtual void Read(std::span<int32_t> tokens, std::span<int32_t> targets) = 0;
};

class Task {
 public:
  virtual ~Task() = default;

  virtual std::string name() const = 0;
  virtual std::string summary() const = 0;
  virtual std::vector<std::string> symbols() const = 0;  // the vocabulary: one name per token
  virtual double chance() const = 0;                     // accuracy of guessing
  virtual int64_t min_length() const = 0;

  // The example of that length that `rng` gives: the same stream, the same example. It has length - 1 tokens.
  virtual std::unique_ptr<ExampleStream> Open(int64_t length, Rng rng) const = 0;

  int64_t vocab_size() const { return static_cast<int64_t>(symbols().size()); }

  // (accuracy - chance) / (1 - chance): 1 is perfect, 0 is guessing; may be negative.
  double Scaled(double accuracy) const { return (accuracy - chance()) / (1 - chance()); }
};

}  // namespace lrnn
