#include "lrnn/tasks/expression_value.h"

#include <fmt/format.h>

#include <charconv>

namespace lrnn {
namespace {

// Recursive descent; every function gives nothing as soon as something is wrong.
class Parser {
 public:
  explicit Parser(std::span<const std::string> symbols) : symbols_(symbols) {}

  std::optional<int64_t> Whole() {
    const auto value = Sum();
    return at_ == symbols_.size() ? value : std::nullopt;
  }

 private:
  bool Take(std::string_view symbol) {
    if (at_ == symbols_.size() || symbols_[at_] != symbol) return false;
    ++at_;
    return true;
  }

  std::optional<int64_t> Sum() {
    std::optional<int64_t> sum = Product();
    while (sum) {
      const bool plus = Take("+");
      if (!plus && !Take("-")) break;
      const std::optional<int64_t> term = Product();
      int64_t result;
      if (!term || (plus ? __builtin_add_overflow(*sum, *term, &result) : __builtin_sub_overflow(*sum, *term, &result)))
        return std::nullopt;
      sum = result;
    }
    return sum;
  }

  std::optional<int64_t> Product() {
    std::optional<int64_t> product = Factor();
    while (product && Take("*")) {
      const std::optional<int64_t> factor = Factor();
      int64_t result;
      if (!factor || __builtin_mul_overflow(*product, *factor, &result)) return std::nullopt;
      product = result;
    }
    return product;
  }

  std::optional<int64_t> Factor() {
    if (Take("-")) {
      const std::optional<int64_t> factor = Factor();
      int64_t result;
      if (!factor || __builtin_sub_overflow(0, *factor, &result)) return std::nullopt;
      return result;
    }
    if (Take("(")) {
      const std::optional<int64_t> inner = Sum();
      return Take(")") ? inner : std::nullopt;
    }
    if (at_ == symbols_.size()) return std::nullopt;
    const std::string& digits = symbols_[at_++];
    int64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
    return value;
  }

  std::span<const std::string> symbols_;
  size_t at_ = 0;
};

}  // namespace

std::optional<int64_t> ExpressionValue(std::span<const std::string> symbols) { return Parser(symbols).Whole(); }

std::string ExplainValue(std::span<const std::string> symbols, int64_t modulus) {
  const std::optional<int64_t> value = ExpressionValue(symbols);
  if (!value) return "";
  return fmt::format("{} = {} (mod {})", *value, (*value % modulus + modulus) % modulus, modulus);
}

}  // namespace lrnn
