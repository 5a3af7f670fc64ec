// Parity: is the number of ones odd?
//
// Tokens: 0 padding (never drawn), 1 the bit 0, 2 the bit 1. A sequence of that length has length - 1 bits, independent
// and uniform; the answer, predicted at the last bit, is 1 + (number of ones mod 2).
#pragma once

#include "lrnn/tasks/task_info.h"

namespace lrnn {

class Parity : public Task {
 public:
  std::string name() const override { return "parity"; }
  std::vector<std::string> symbols() const override { return {"<pad>", "0", "1"}; }
  double chance() const override { return 0.5; }
  int64_t min_length() const override { return 2; }
  std::optional<TaskAutomaton> automaton() const override;

 protected:
  std::unique_ptr<ExampleStream> Start(int64_t length, Rng rng) const override;
};

TaskInfo ParityInfo();

}  // namespace lrnn
