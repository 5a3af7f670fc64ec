#include "lrnn/tasks/even_pairs.h"

namespace lrnn {
namespace {

class EvenPairsStream : public ExampleStream {
 public:
  EvenPairsStream(int64_t bits, Rng rng) : ExampleStream(bits), rng_(rng) {}

 private:
  Position Next() override {
    const int32_t token = 1 + static_cast<int32_t>(rng_.Below(2));
    if (first_ == 0) first_ = token;
    return {token, left() == 0 ? (token == first_ ? 1 : 2) : kNoTarget};
  }

  Rng rng_;
  int32_t first_ = 0;
};

class EvenPairs : public Task {
 public:
  std::string name() const override { return "even_pairs"; }
  std::vector<std::string> symbols() const override { return {"<pad>", "0", "1"}; }
  double chance() const override { return 0.5; }
  int64_t min_length() const override { return 2; }

  // State 0: nothing read yet; 1 + 2 first + last: bits 0 or 1.
  std::optional<TaskAutomaton> automaton() const override {
    return TaskAutomaton{{.num_states = 5,
                          .letters = symbols(),
                          .next = {{0, 1, 2, 3, 4}, {1, 1, 1, 3, 3}, {4, 2, 2, 4, 4}},
                          .start = 0,
                          .accepting = {false, false, true, true, false}},
                         {1, 1, 2, 2, 1}};
  }

 protected:
  std::unique_ptr<ExampleStream> Start(int64_t length, Rng rng) const override {
    return std::make_unique<EvenPairsStream>(tokens(length), rng);
  }
};

}  // namespace

TaskInfo EvenPairsInfo() {
  return {"even_pairs",
          "is the number of unequal neighbours odd? (are the first and the last bit unequal?)",
          {},
          [](const TaskParameters&) { return std::make_unique<EvenPairs>(); }};
}

}  // namespace lrnn
