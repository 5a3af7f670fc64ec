#include "lrnn/tasks/bracket_expression.h"

#include "lrnn/base/error.h"

namespace lrnn {
namespace {

// Symbols after the digits.
enum Symbol : int32_t { kPlus, kMinus, kTimes, kLeft, kRight };

}  // namespace

BracketExpression::BracketExpression(int64_t length, int32_t modulus, bool multiplication)
    : modulus_(modulus), operators_(multiplication ? 3 : 2), parts_{{Kind::kExpression, length}} {
  LRNN_CHECK(length > 0, "[BracketExpression] expected a positive length, got {}", length);
}

std::vector<std::string> BracketExpression::Symbols(int32_t modulus) {
  std::vector<std::string> symbols;
  for (int32_t digit = 0; digit < modulus; ++digit) symbols.push_back(std::to_string(digit));
  symbols.insert(symbols.end(), {"+", "-", "*", "(", ")"});
  return symbols;
}

// The first symbol of an expression of that length; the rest waits in parts_.
int32_t BracketExpression::Open(int64_t length, Rng& rng) {
  switch (length) {
    case 2:
      parts_.push_back({Kind::kNegativeDigit, 0});
      return modulus_ + kMinus;
    case 3:
      parts_.push_back({Kind::kSymbol, kRight});
      parts_.push_back({Kind::kDigit, 0});
      return modulus_ + kLeft;
    case 4:
      parts_.push_back({Kind::kSymbol, kRight});
      parts_.push_back({Kind::kNegativeDigit, 0});
      parts_.push_back({Kind::kSymbol, kMinus});
      return modulus_ + kLeft;
    default: {
      const int64_t left = rng.Between(1, length - 4);
      const int64_t op = rng.Below(operators_);
      parts_.push_back({Kind::kReduce, op});
      parts_.push_back({Kind::kExpression, length - 3 - left});
      parts_.push_back({Kind::kSymbol, op});
      parts_.push_back({Kind::kExpression, left});
      return modulus_ + kLeft;
    }
  }
}

int32_t BracketExpression::Next(Rng& rng) {
  const Part part = parts_.back();
  parts_.pop_back();
  switch (part.kind) {
    case Kind::kExpression:
      if (part.argument > 1) return Open(part.argument, rng);
      [[fallthrough]];
    case Kind::kDigit:
    case Kind::kNegativeDigit: {
      const int32_t digit = static_cast<int32_t>(rng.Below(modulus_));
      values_.push_back(part.kind == Kind::kNegativeDigit ? (modulus_ - digit) % modulus_ : digit);
      return digit;
    }
    case Kind::kReduce: {
      const int64_t right = values_.back();
      values_.pop_back();
      int64_t& left = values_.back();
      left = part.argument == kPlus    ? (left + right) % modulus_
             : part.argument == kMinus ? (left + modulus_ - right) % modulus_
                                       : left * right % modulus_;
      return modulus_ + kRight;
    }
    case Kind::kSymbol:
      break;
  }
  return modulus_ + static_cast<int32_t>(part.argument);
}

}  // namespace lrnn
