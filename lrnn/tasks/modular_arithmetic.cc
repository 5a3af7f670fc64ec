#include "lrnn/tasks/modular_arithmetic.h"

#include "lrnn/tasks/expression_value.h"

namespace lrnn {
namespace {

enum Token : int32_t { kPad, kPlus, kMinus, kTimes, kEquals, kZero };

class ModularStream : public ExampleStream {
 public:
  ModularStream(int64_t tokens, int32_t modulus, Rng rng) : ExampleStream(tokens), modulus_(modulus), rng_(rng) {}

 private:
  Position Next() override {
    if (left() == 0) return {kEquals, kZero + static_cast<int32_t>((sum_ + term_) % modulus_)};
    if (left() % 2 == 0) {
      operator_ = kPlus + static_cast<int32_t>(rng_.Below(3));
      return {operator_};
    }
    const int64_t digit = rng_.Below(modulus_);
    if (operator_ == kTimes) {
      term_ = term_ * digit % modulus_;
    } else {
      sum_ = (sum_ + term_) % modulus_;
      term_ = operator_ == kMinus ? (modulus_ - digit) % modulus_ : digit;
    }
    return {kZero + static_cast<int32_t>(digit)};
  }

  const int32_t modulus_;
  Rng rng_;
  int32_t operator_ = kPlus;  // the last one; the first digit is added to nothing
  int64_t sum_ = 0;           // of the finished products
  int64_t term_ = 0;          // the product under way, with its sign
};

class ModularArithmetic : public Task {
 public:
  explicit ModularArithmetic(int32_t modulus) : modulus_(modulus) {}

  std::string name() const override { return "modular_arithmetic"; }
  std::vector<std::string> symbols() const override {
    std::vector<std::string> symbols = {"<pad>", "+", "-", "*", "="};
    for (int32_t digit = 0; digit < modulus_; ++digit) symbols.push_back(std::to_string(digit));
    return symbols;
  }
  double chance() const override { return 1.0 / modulus_; }
  int64_t min_length() const override { return 3; }
  int64_t tokens(int64_t length) const override { return (length + 1) / 2 * 2 - 2; }
  int64_t DrawLength(LengthRange lengths, Rng& rng) const override {
    return 2 * rng.Between((lengths.min + 1) / 2, (lengths.max + 1) / 2) - 1;
  }

  std::string Explain(std::span<const int32_t> tokens) const override {
    const auto names = symbols();
    std::vector<std::string> expression;
    for (int32_t token : tokens.first(tokens.size() - 1)) expression.push_back(names[token]);
    return ExplainValue(expression, modulus_);
  }

 protected:
  std::unique_ptr<ExampleStream> Start(int64_t length, Rng rng) const override {
    return std::make_unique<ModularStream>(tokens(length), modulus_, rng);
  }

 private:
  int32_t modulus_;
};

}  // namespace

TaskInfo ModularArithmeticInfo() {
  return {"modular_arithmetic",
          "the value of digits with + - * between them, mod m",
          {{"modulus", 5, "m"}},
          [](const TaskParameters& parameters) {
            return std::make_unique<ModularArithmetic>(static_cast<int32_t>(parameters.Int("modulus", 2, 1000)));
          }};
}

}  // namespace lrnn
