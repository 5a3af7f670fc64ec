#include "lrnn/tasks/solve_equation.h"

#include <gtest/gtest.h>

#include "lrnn/tasks/expression_value.h"
#include "lrnn/tasks/registry.h"

namespace lrnn {
namespace {

TEST(SolveEquation, ItsAnswerIsTheOnlySolution) {
  const auto task = MakeTask("solve_equation");
  const auto symbols = task->symbols();
  const std::vector<std::string> expected = {"0", "1", "2", "3", "4", "+", "-", "*", "(", ")", "=", "x", "<out>"};
  EXPECT_EQ(symbols, expected);
  std::vector<int> unknown_at(10);
  for (uint64_t i = 0; i < 1000; ++i) {
    const int64_t length = 3 + static_cast<int64_t>(i % 50);
    const auto [tokens, targets] = ReadExample(*task, length, Rng(1, i));
    ASSERT_EQ(static_cast<int64_t>(tokens.size()), length + 1);
    EXPECT_EQ(symbols[tokens[length]], "<out>");
    EXPECT_EQ(symbols[tokens[length - 2]], "=");
    EXPECT_EQ(std::count(targets.begin(), targets.end(), kNoTarget), length);
    std::vector<std::string> expression;
    for (int64_t t = 0; t < length - 2; ++t) expression.push_back(symbols[tokens[t]]);
    const auto x = std::find(expression.begin(), expression.end(), "x");
    ASSERT_NE(x, expression.end());
    EXPECT_EQ(std::count(expression.begin(), expression.end(), "x"), 1);
    for (int32_t digit = 0; digit < 5; ++digit) {
      *x = symbols[digit];
      const int64_t value = *ExpressionValue(expression);
      EXPECT_EQ((value % 5 + 5) % 5 == tokens[length - 1], digit == targets[length]);
    }
    if (length - 2 == 5) ++unknown_at[x - expression.begin()];
  }
  EXPECT_GT(unknown_at[1], unknown_at[3] / 2);  // ( d op d ): x is at 1 from places 4, 0, 1 and at 3 from 2, 3
  EXPECT_GT(unknown_at[3], 0);
}

}  // namespace
}  // namespace lrnn
