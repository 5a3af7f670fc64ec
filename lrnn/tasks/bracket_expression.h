// Random bracketed expressions with their values mod m (Delétang et al.), written from left to right.
//
//   G(1) = d    G(2) = - d    G(3) = ( d )    G(4) = ( - d )
//   G(e) = ( G(l) op G(e - 3 - l) ), l uniform over 1 .. e - 4
//
// d is uniform over 0 .. m-1, op over + and -, or + - and *. An expression is drawn as it is written; what is
// remembered is the brackets that are open, about log(e) of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lrnn/base/rng.h"

namespace lrnn {

class BracketExpression {
 public:
  BracketExpression(int64_t length, int32_t modulus, bool multiplication);

  // The next symbol: d for a digit, then modulus + 0 .. 4 for + - * ( ).
  int32_t Next(Rng& rng);

  // After the last symbol: the value, from 0 to modulus - 1.
  int32_t value() const { return static_cast<int32_t>(values_.back()); }

  // Names of the symbols: the digits and + - * ( ).
  static std::vector<std::string> Symbols(int32_t modulus);

 private:
  enum class Kind { kExpression, kDigit, kNegativeDigit, kSymbol, kReduce };
  struct Part {  // what is still to be written
    Kind kind;
    int64_t argument;  // the length of an expression, a symbol, the operator of a pair that ) closes
  };

  int32_t Open(int64_t length, Rng& rng);

  int32_t modulus_;
  int32_t operators_;
  std::vector<Part> parts_;      // the next one last
  std::vector<int64_t> values_;  // of what is written, where its operator still waits
};

}  // namespace lrnn
