#include "lrnn/tasks/parity.h"

#include "lrnn/base/error.h"

namespace lrnn {
namespace {

class ParityStream : public ExampleStream {
 public:
  ParityStream(int64_t bits, Rng rng) : left_(bits), rng_(rng) {}

  void Read(std::span<int32_t> tokens, std::span<int32_t> targets) override {
    LRNN_CHECK(tokens.size() == targets.size() && static_cast<int64_t>(tokens.size()) <= left_,
               "[parity] expected to read at most {} more tokens, got {}", left_, tokens.size());
    for (size_t i = 0; i < tokens.size(); ++i) {
      const int32_t bit = static_cast<int32_t>(rng_.Below(2));
      odd_ ^= bit;
      tokens[i] = 1 + bit;
      targets[i] = --left_ == 0 ? 1 + odd_ : kNoTarget;
    }
  }

 private:
  int64_t left_;
  Rng rng_;
  int32_t odd_ = 0;
};

}  // namespace

std::unique_ptr<ExampleStream> Parity::Open(int64_t length, Rng rng) const {
  LRNN_CHECK(length >= min_length(), "[parity] expected a length of at least {}, got {}", min_length(), length);
  return std::make_unique<ParityStream>(length - 1, rng);
}

}  // namespace lrnn
