#include "lrnn/tasks/bracket_expression.h"

#include <gtest/gtest.h>

#include <map>

#include "lrnn/base/error.h"

namespace lrnn {
namespace {

constexpr int kModulus = 5;

std::string Draw(int64_t length, bool multiplication, uint64_t stream, int32_t* value = nullptr) {
  Rng rng(1, stream);
  BracketExpression expression(length, kModulus, multiplication);
  std::string text;
  for (int64_t i = 0; i < length; ++i) text += BracketExpression::Symbols(kModulus)[expression.Next(rng)];
  if (value) *value = expression.value();
  return text;
}

// The grammar of the header, read back: the value mod 5 of what starts at `at`, which ends where the grammar ends it.
int Read(const std::string& text, size_t& at) {
  const auto digit = [&] {
    EXPECT_TRUE(std::isdigit(text.at(at))) << text;
    return text.at(at++) - '0';
  };
  if (text.at(at) == '-') return ++at, (kModulus - digit()) % kModulus;
  if (text.at(at) != '(') return digit();
  ++at;
  const int left = Read(text, at);
  if (text.at(at) == ')') return ++at, left;
  const char op = text.at(at++);
  const int right = Read(text, at);
  EXPECT_EQ(text.at(at), ')') << text;
  ++at;
  EXPECT_TRUE(op == '+' || op == '-' || op == '*') << text;
  return (op == '+' ? left + right : op == '-' ? left - right + kModulus : left * right) % kModulus;
}

TEST(BracketExpression, ValuesAreThoseOfTheGrammar) {
  for (bool multiplication : {false, true}) {
    bool has_times = false;
    for (uint64_t i = 0; i < 3000; ++i) {
      int32_t value;
      const std::string text = Draw(1 + static_cast<int64_t>(i % 60), multiplication, i, &value);
      size_t end = 0;
      EXPECT_EQ(Read(text, end), value) << text;
      EXPECT_EQ(end, text.size()) << text;
      has_times |= text.find('*') != std::string::npos;
    }
    EXPECT_EQ(has_times, multiplication);
  }
}

std::map<std::string, int> Shapes(int64_t length, bool multiplication) {
  std::map<std::string, int> shapes;
  for (uint64_t i = 0; i < 6000; ++i) {
    std::string text = Draw(length, multiplication, i);
    for (char& c : text) c = std::isdigit(c) ? 'd' : c;
    ++shapes[text];
  }
  return shapes;
}

TEST(BracketExpression, ShortOnesAreAsTheGrammarSays) {
  EXPECT_EQ(Shapes(1, false), (std::map<std::string, int>{{"d", 6000}}));
  EXPECT_EQ(Shapes(2, false), (std::map<std::string, int>{{"-d", 6000}}));
  EXPECT_EQ(Shapes(3, false), (std::map<std::string, int>{{"(d)", 6000}}));
  EXPECT_EQ(Shapes(4, false), (std::map<std::string, int>{{"(-d)", 6000}}));
  const auto five = Shapes(5, false);
  ASSERT_EQ(five.size(), 2u);
  EXPECT_NEAR(five.at("(d+d)"), 3000, 200);
  const auto seven = Shapes(7, true);  // left length 1, 2 or 3, three operators
  ASSERT_EQ(seven.size(), 9u);
  for (const auto& [shape, count] : seven) EXPECT_NEAR(count, 6000 / 9, 130) << shape;
}

TEST(BracketExpression, RefusesNothing) { EXPECT_THROW(BracketExpression(0, 5, false), Error); }

}  // namespace
}  // namespace lrnn
