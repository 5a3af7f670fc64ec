#include "lrnn/tasks/modular_arithmetic_brackets.h"

#include <algorithm>

#include "lrnn/tasks/bracket_expression.h"
#include "lrnn/tasks/expression_value.h"

namespace lrnn {
namespace {

constexpr int64_t kShortest = 5;

class BracketStream : public ExampleStream {
 public:
  BracketStream(int64_t tokens, int32_t equals, BracketExpression expression, Rng rng)
      : ExampleStream(tokens), equals_(equals), expression_(std::move(expression)), rng_(rng) {}

 private:
  Position Next() override {
    if (left() == 0) return {equals_, expression_.value()};
    return {expression_.Next(rng_)};
  }

  int32_t equals_;
  BracketExpression expression_;
  Rng rng_;
};

class ModularArithmeticBrackets : public Task {
 public:
  ModularArithmeticBrackets(int32_t modulus, bool multiplication)
      : modulus_(modulus), multiplication_(multiplication) {}

  std::string name() const override { return "modular_arithmetic_brackets"; }
  std::vector<std::string> symbols() const override {
    std::vector<std::string> symbols = BracketExpression::Symbols(modulus_);
    symbols.insert(symbols.end(), {"=", "<pad>"});
    return symbols;
  }
  double chance() const override { return 1.0 / modulus_; }
  int64_t min_length() const override { return 3; }
  int64_t tokens(int64_t length) const override { return std::max(length, kShortest) - 2; }
  int64_t DrawLength(LengthRange lengths, Rng& rng) const override {
    return std::max(rng.Between(lengths.min, lengths.max), kShortest);
  }

  std::string Explain(std::span<const int32_t> tokens) const override {
    const auto names = symbols();
    std::vector<std::string> expression;
    for (int32_t token : tokens.first(tokens.size() - 1)) expression.push_back(names[token]);
    return ExplainValue(expression, modulus_);
  }

 protected:
  std::unique_ptr<ExampleStream> Start(int64_t length, Rng rng) const override {
    const int64_t count = tokens(length);
    const int32_t equals = static_cast<int32_t>(BracketExpression::Symbols(modulus_).size());
    return std::make_unique<BracketStream>(count, equals, BracketExpression(count - 1, modulus_, multiplication_), rng);
  }

 private:
  int32_t modulus_;
  bool multiplication_;
};

}  // namespace

TaskInfo ModularArithmeticBracketsInfo() {
  return {"modular_arithmetic_brackets",
          "the value of a bracketed expression of digits, mod m",
          {{"modulus", 5, "m"}, {"multiplication", false, "true: * too, as in Delétang et al.; false: + and -"}},
          [](const TaskParameters& parameters) {
            return std::make_unique<ModularArithmeticBrackets>(static_cast<int32_t>(parameters.Int("modulus", 2, 1000)),
                                                               parameters.Bool("multiplication"));
          }};
}

}  // namespace lrnn
