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
  }
}

// In ( d op d ) the first digit is the unknown from places 4, 0 and 1, the second from 2 and 3.
TEST(SolveEquation, TheUnknownIsTheNextDigitAfterARandomPlace) {
  const auto task = MakeTask("solve_equation");
  const int32_t unknown = 11;
  int first = 0, second = 0;
  for (uint64_t i = 0; i < 4000; ++i) {
    const auto tokens = ReadExample(*task, 7, Rng(2, i)).tokens;
    first += tokens[1] == unknown;
    second += tokens[3] == unknown;
  }
  EXPECT_EQ(first + second, 4000);
  EXPECT_NEAR(first, 2400, 150);
}

}  // namespace
}  // namespace lrnn
