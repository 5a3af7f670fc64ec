// A task: sequences of tokens, with the tokens a model should predict at some of the positions.
//
// What `length` counts is the task's own: in the tasks of the paper a sequence's tokens including the answer, so that
// the model reads length - 1; in word problems the elements; in the tasks of Delétang et al. the symbols of the
// question. tokens(length) is how many tokens the model reads.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lrnn/base/rng.h"
#include "lrnn/tasks/task_automaton.h"

namespace lrnn {

constexpr int32_t kNoTarget = -1;

struct LengthRange {
  int64_t min;
  int64_t max;  // included
};

// What counts as right.
enum class Score {
  kTokens,    // the share of right predictions among all positions with a target (often one a sequence: the answer)
  kSequence,  // the share of sequences without a wrong prediction; its curve at position L is the share of sequences
              // whose predictions at positions 1 .. L are all right, so it never rises
};

// One example, read from left to right in pieces of any size, so that a million tokens need no memory.
class ExampleStream {
 public:
  explicit ExampleStream(int64_t tokens) : left_(tokens) {}
  virtual ~ExampleStream() = default;

  // The next tokens.size() tokens the model reads and, for each, what it should predict there or kNoTarget. Reads no
  // further than the end.
  void Read(std::span<int32_t> tokens, std::span<int32_t> targets);

 protected:
  struct Position {
    int32_t token;
    int32_t target = kNoTarget;
  };

  virtual Position Next() = 0;

  // Tokens after the one that Next is asked for; 0 at the last.
  int64_t left() const { return left_; }

 private:
  int64_t left_;
};

class Task {
 public:
  virtual ~Task() = default;

  virtual std::string name() const = 0;
  virtual std::vector<std::string> symbols() const = 0;    // the vocabulary: one name per token
  virtual double chance() const = 0;                       // accuracy of guessing, by score()
  virtual Score score() const { return Score::kTokens; }   //
  virtual int64_t min_length() const = 0;                  // of what Open takes
  virtual int64_t max_length() const { return kNoLimit; }  // limited where an example must be held in memory
  virtual int64_t tokens(int64_t length) const { return length - 1; }

  // A length of the range, as the task draws it: uniform, of those lengths that it has.
  virtual int64_t DrawLength(LengthRange lengths, Rng& rng) const { return rng.Between(lengths.min, lengths.max); }

  // The example of that length that `rng` gives: the same stream, the same example. It has tokens(length) tokens. A
  // length that the task does not have (an even one, in modular arithmetic) stands for the nearest that it has. The
  // task must outlive the stream.
  std::unique_ptr<ExampleStream> Open(int64_t length, Rng rng) const;

  // The examples to evaluate on: its own where each seed names new ones, others where a file is split.
  virtual const Task& held_out() const { return *this; }

  // The automaton that the answers come from, where the task has one of a size to be written down. (A target at <bos>
  // is <bos>, in any state.)
  virtual std::optional<TaskAutomaton> automaton() const { return std::nullopt; }

  // What helps a person to check the example with these tokens, or "".
  virtual std::string Explain(std::span<const int32_t> /*tokens*/) const { return ""; }

  int64_t vocab_size() const { return static_cast<int64_t>(symbols().size()); }

  // (accuracy - chance) / (1 - chance): 1 is perfect, 0 is guessing; may be negative.
  double Scaled(double accuracy) const { return (accuracy - chance()) / (1 - chance()); }

  static constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();

 protected:
  // Open, for a length between min_length() and max_length().
  virtual std::unique_ptr<ExampleStream> Start(int64_t length, Rng rng) const = 0;
};

struct Example {
  std::vector<int32_t> tokens;
  std::vector<int32_t> targets;  // kNoTarget where there is none

  bool operator==(const Example&) const = default;
};

// The whole example at once.
Example ReadExample(const Task& task, int64_t length, Rng rng);

// Throws where the task cannot draw a length from the range.
void CheckLengths(const Task& task, LengthRange lengths);

}  // namespace lrnn
