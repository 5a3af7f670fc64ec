#include "lrnn/compile/dyadic.h"

#include <gtest/gtest.h>

#include "lrnn/base/message_of.h"

namespace lrnn {
namespace {

TEST(Dyadic, IsExact) {
  const Dyadic a(0.75), b(-2.5);
  EXPECT_EQ((a + b).ToDouble(), -1.75);
  EXPECT_EQ((a - b).ToDouble(), 3.25);
  EXPECT_EQ((a * b).ToDouble(), -1.875);
  EXPECT_EQ(a + b - a, b);
  EXPECT_EQ(b.Abs().ToDouble(), 2.5);
  EXPECT_TRUE(b < a);
  EXPECT_FALSE(a < a);
  EXPECT_EQ(Dyadic(0.0), a - a);
  EXPECT_EQ(a.quantum(), -2);
  EXPECT_EQ(Dyadic(12.0).quantum(), 2);
  EXPECT_EQ(Dyadic(1e-30).ToDouble(), 1e-30);
}

TEST(Dyadic, SaysWhenNumbersGetTooLong) {
  const Dyadic third(1.0f / 3.0f);  // 24 bits
  const std::string message = "the weights are rounded: exact numbers need more than 62 bits";
  EXPECT_EQ(MessageOf([&] { third* third; }), "");
  EXPECT_EQ(MessageOf([&] { third* third* third; }), message);
  EXPECT_EQ(MessageOf([&] { Dyadic(1e30) + Dyadic(1.0); }), message);
}

}  // namespace
}  // namespace lrnn
