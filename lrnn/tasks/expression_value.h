// The exact value of an arithmetic expression, for people who check examples by hand.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace lrnn {

// The value of digits (non-negative numbers), + - * and brackets, with * before + and -, from left to right; a minus
// may stand before any factor. Nothing when 64 bits do not hold it or the symbols are not an expression.
std::optional<int64_t> ExpressionValue(std::span<const std::string> symbols);

// "10 = 0 (mod 5)", or "" where there is no exact value.
std::string ExplainValue(std::span<const std::string> symbols, int64_t modulus);

}  // namespace lrnn
