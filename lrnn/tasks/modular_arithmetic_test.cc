#include "lrnn/tasks/modular_arithmetic.h"

#include <gtest/gtest.h>

#include <map>

#include "lrnn/tasks/registry.h"

namespace lrnn {
namespace {

// Two passes over d op d ... d =: first the products, then their sum.
int Value(const std::vector<int32_t>& tokens, int modulus) {
  std::vector<std::pair<int, int>> products;  // sign, product
  for (size_t i = 0; i + 1 < tokens.size(); i += 2) {
    const int digit = tokens[i] - 5, before = i == 0 ? 1 : tokens[i - 1];
    if (before == 3) {
      products.back().second = products.back().second * digit % modulus;
    } else {
      products.emplace_back(before == 1 ? 1 : -1, digit);
    }
  }
  int sum = 0;
  for (const auto& [sign, product] : products) sum += sign * product;
  return ((sum % modulus) + modulus) % modulus;
}

TEST(ModularArithmetic, LayoutAndValue) {
  for (int modulus : {5, 7}) {
    const auto task = MakeTask("modular_arithmetic", {{"modulus", modulus}});
    EXPECT_EQ(task->vocab_size(), modulus + 5);
    EXPECT_DOUBLE_EQ(task->chance(), 1.0 / modulus);
    std::map<int32_t, int> operators, digits;
    for (uint64_t i = 0; i < 2000; ++i) {
      const int64_t length = 3 + 2 * static_cast<int64_t>(i % 20);
      const auto [tokens, targets] = ReadExample(*task, length, Rng(1, i));
      ASSERT_EQ(static_cast<int64_t>(tokens.size()), length - 1);
      ASSERT_EQ(tokens.back(), 4);
      for (size_t t = 0; t + 1 < tokens.size(); ++t) ++(t % 2 == 0 ? digits : operators)[tokens[t]];
      EXPECT_EQ(targets.back(), 5 + Value(tokens, modulus));
      EXPECT_EQ(std::count(targets.begin(), targets.end(), kNoTarget), length - 2);
    }
    ASSERT_EQ(operators.size(), 3u);
    for (const auto& [token, count] : operators) {
      EXPECT_TRUE(token >= 1 && token <= 3);
      EXPECT_NEAR(count, 19000 / 3, 350);
    }
    ASSERT_EQ(digits.size(), static_cast<size_t>(modulus));
    for (const auto& [token, count] : digits) {
      EXPECT_TRUE(token >= 5 && token < 5 + modulus);
      EXPECT_NEAR(count, 21000 / modulus, 350);
    }
  }
}

// 3:40 are the 19 odd lengths 3 .. 39, 40:256 the 109 odd lengths 39 .. 255, all equally likely.
TEST(ModularArithmetic, LengthsAreOdd) {
  const auto task = MakeTask("modular_arithmetic");
  for (const auto& [range, first, last] : {std::tuple(LengthRange{3, 40}, 3, 39), {LengthRange{40, 256}, 39, 255}}) {
    std::map<int64_t, int> counts;
    for (uint64_t i = 0; i < 40000; ++i) {
      Rng rng(3, i);
      ++counts[task->DrawLength(range, rng)];
    }
    const double expected = 40000.0 / ((last - first) / 2 + 1);
    EXPECT_EQ(counts.size(), static_cast<size_t>((last - first) / 2 + 1));
    for (const auto& [length, count] : counts) {
      EXPECT_EQ(length % 2, 1);
      EXPECT_TRUE(length >= first && length <= last);
      EXPECT_NEAR(count, expected, 6 * std::sqrt(expected)) << length;
    }
  }
  EXPECT_EQ(task->tokens(40), 38) << "an even length stands for the odd one below it";
}

TEST(ModularArithmetic, ExplainsItsValue) {
  const auto task = MakeTask("modular_arithmetic");
  EXPECT_EQ(task->Explain(std::vector<int32_t>{8, 1, 9, 3, 7, 2, 9, 4}), "7 = 2 (mod 5)");  // 3 + 4 * 2 - 4 =
  EXPECT_EQ(task->Explain(std::vector<int32_t>{5, 2, 8, 4}), "-3 = 2 (mod 5)");
}

}  // namespace
}  // namespace lrnn
