#include "lrnn/tasks/modular_arithmetic_brackets.h"

#include <gtest/gtest.h>

#include <map>

#include "lrnn/tasks/expression_value.h"
#include "lrnn/tasks/registry.h"

namespace lrnn {
namespace {

TEST(ModularArithmeticBrackets, LayoutAndValue) {
  const auto task = MakeTask("modular_arithmetic_brackets");
  const auto symbols = task->symbols();
  EXPECT_EQ(symbols, (std::vector<std::string>{"0", "1", "2", "3", "4", "+", "-", "*", "(", ")", "=", "<pad>"}));
  EXPECT_DOUBLE_EQ(task->chance(), 0.2);
  for (uint64_t i = 0; i < 1000; ++i) {
    const int64_t length = 5 + static_cast<int64_t>(i % 50);
    const auto [tokens, targets] = ReadExample(*task, length, Rng(1, i));
    ASSERT_EQ(static_cast<int64_t>(tokens.size()), length - 2) << "the expression of length - 3, and =";
    EXPECT_EQ(tokens.back(), 10);
    EXPECT_EQ(std::count(tokens.begin(), tokens.end(), 7), 0) << "no * unless asked for";
    std::vector<std::string> expression;
    for (int32_t token : tokens) expression.push_back(symbols[token]);
    expression.pop_back();
    const auto value = ExpressionValue(expression);
    ASSERT_TRUE(value);
    EXPECT_EQ(targets.back(), (*value % 5 + 5) % 5);
    EXPECT_EQ(std::count(targets.begin(), targets.end(), kNoTarget), length - 3);
  }
}

// Of the 38 lengths 3 .. 40, 3 and 4 count as 5.
TEST(ModularArithmeticBrackets, ShortLengthsCountAsFive) {
  const auto task = MakeTask("modular_arithmetic_brackets");
  std::map<int64_t, int> counts;
  for (uint64_t i = 0; i < 38000; ++i) {
    Rng rng(3, i);
    ++counts[task->DrawLength({3, 40}, rng)];
  }
  EXPECT_EQ(counts.size(), 36u);
  EXPECT_NEAR(counts[5], 3000, 300);
  for (int64_t length = 6; length <= 40; ++length) EXPECT_NEAR(counts[length], 1000, 200);
  EXPECT_EQ(task->tokens(3), 3);
}

TEST(ModularArithmeticBrackets, ExplainsItsValue) {
  const auto task = MakeTask("modular_arithmetic_brackets");
  EXPECT_EQ(task->Explain(std::vector<int32_t>{8, 3, 6, 8, 6, 4, 9, 9, 10}), "7 = 2 (mod 5)");  // (3-(-4))=
}

}  // namespace
}  // namespace lrnn
