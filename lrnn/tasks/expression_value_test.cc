#include "lrnn/tasks/expression_value.h"

#include <gtest/gtest.h>

#include <vector>

namespace lrnn {
namespace {

std::optional<int64_t> Value(const std::string& characters) {
  std::vector<std::string> symbols;
  for (char c : characters) symbols.emplace_back(1, c);
  return ExpressionValue(symbols);
}

TEST(ExpressionValue, PrecedenceAndOrder) {
  EXPECT_EQ(Value("7"), 7);
  EXPECT_EQ(Value("2+3*4"), 14);
  EXPECT_EQ(Value("2*3+4"), 10);
  EXPECT_EQ(Value("9-4-3"), 2);
  EXPECT_EQ(Value("9-(4-3)"), 8);
  EXPECT_EQ(Value("-3*2"), -6);
  EXPECT_EQ(Value("((-4)*(2-5))"), 12);
  EXPECT_EQ(ExpressionValue(std::vector<std::string>{"12", "*", "10"}), 120);
}

TEST(ExpressionValue, NothingForWhatIsNone) {
  for (const char* text : {"", "+", "2+", "(2", "2)", "2 3", "x", "2*x", "()"}) EXPECT_FALSE(Value(text)) << text;
}

TEST(ExpressionValue, NothingBeyond64Bits) {
  std::string power = "9";
  for (int i = 0; i < 30; ++i) power += "*9";
  EXPECT_FALSE(Value(power));
  EXPECT_EQ(ExplainValue(std::vector<std::string>{"x"}, 5), "");
  EXPECT_EQ(ExplainValue(std::vector<std::string>{"-", "3"}, 5), "-3 = 2 (mod 5)");
}

}  // namespace
}  // namespace lrnn
