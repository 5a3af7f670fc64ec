#include "lrnn/tasks/parity.h"

namespace lrnn {
namespace {

class ParityStream : public ExampleStream {
 public:
  ParityStream(int64_t bits, Rng rng) : ExampleStream(bits), rng_(rng) {}

 private:
  Position Next() override {
    const int32_t bit = static_cast<int32_t>(rng_.Below(2));
    odd_ ^= bit;
    return {1 + bit, left() == 0 ? 1 + odd_ : kNoTarget};
  }

  Rng rng_;
  int32_t odd_ = 0;
};

}  // namespace

std::unique_ptr<ExampleStream> Parity::Start(int64_t length, Rng rng) const {
  return std::make_unique<ParityStream>(tokens(length), rng);
}

std::optional<TaskAutomaton> Parity::automaton() const {
  return TaskAutomaton{
      {.num_states = 2, .letters = symbols(), .next = {{0, 1}, {0, 1}, {1, 0}}, .start = 0, .accepting = {false, true}},
      {1, 2}};
}

TaskInfo ParityInfo() {
  return {"parity", "is the number of ones odd?", {}, [](const TaskParameters&) { return std::make_unique<Parity>(); }};
}

}  // namespace lrnn
