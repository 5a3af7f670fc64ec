#include "lrnn/tasks/cycle_navigation.h"

#include <array>

namespace lrnn {
namespace {

class CycleStream : public ExampleStream {
 public:
  CycleStream(int64_t steps, int32_t cycle, Rng rng) : ExampleStream(steps), cycle_(cycle), rng_(rng) {}

 private:
  Position Next() override {
    const int32_t step = static_cast<int32_t>(rng_.Below(3));  // stay, forward, back
    place_ = (place_ + std::array{0, 1, cycle_ - 1}[step]) % cycle_;
    return {1 + step, left() == 0 ? 4 + place_ : kNoTarget};
  }

  int32_t cycle_;
  Rng rng_;
  int32_t place_ = 0;
};

class CycleNavigation : public Task {
 public:
  explicit CycleNavigation(int32_t cycle) : cycle_(cycle) {}

  std::string name() const override { return "cycle_navigation"; }
  std::vector<std::string> symbols() const override {
    std::vector<std::string> symbols = {"<pad>", "stay", "+1", "-1"};
    for (int32_t place = 0; place < cycle_; ++place) symbols.push_back(std::to_string(place));
    return symbols;
  }
  double chance() const override { return 1.0 / cycle_; }
  int64_t min_length() const override { return 2; }

  std::optional<TaskAutomaton> automaton() const override {
    TaskAutomaton result{{.num_states = cycle_, .letters = symbols(), .next = {}, .start = 0, .accepting = {}}, {}};
    result.dfa.letters.resize(4);
    for (const int step : {0, 0, 1, cycle_ - 1}) {
      std::vector<int>& next = result.dfa.next.emplace_back();
      for (int32_t place = 0; place < cycle_; ++place) next.push_back((place + step) % cycle_);
    }
    for (int32_t place = 0; place < cycle_; ++place) {
      result.dfa.accepting.push_back(place == 0);
      result.answers.push_back(4 + place);
    }
    return result;
  }

 protected:
  std::unique_ptr<ExampleStream> Start(int64_t length, Rng rng) const override {
    return std::make_unique<CycleStream>(tokens(length), cycle_, rng);
  }

 private:
  int32_t cycle_;
};

}  // namespace

TaskInfo CycleNavigationInfo() {
  return {"cycle_navigation",
          "at which place of a cycle do these steps end?",
          {{"cycle", 5, "places on the cycle"}},
          [](const TaskParameters& parameters) {
            return std::make_unique<CycleNavigation>(static_cast<int32_t>(parameters.Int("cycle", 2, 1000)));
          }};
}

}  // namespace lrnn
