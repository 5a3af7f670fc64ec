#include "lrnn/io/fields.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lrnn/base/message_of.h"

namespace lrnn {
namespace {

using nlohmann::json;

Fields Example() {
  return Fields(
      json::parse(
          R"({"hidden_size": 128, "expand": 1.5, "zero": 0, "large": 2147483648, "negative": -3, "huge": 18446744073709551615,
                                "name": "abc", "tie": true, "conv_size": null, "symbols": ["a", "b"], "mixed": ["a", 1],
                                "lrnn": {"task": "parity", "inner": {"x": "y"}}})"),
      "m/config.json");
}

TEST(Fields, ReadsEachType) {
  const Fields fields = Example();
  EXPECT_EQ(fields.Int("hidden_size"), 128);
  EXPECT_EQ(fields.Int("negative"), -3);
  EXPECT_EQ(fields.PositiveInt("hidden_size"), 128);
  EXPECT_EQ(fields.Double("expand"), 1.5);
  EXPECT_EQ(fields.Double("hidden_size"), 128.0);
  EXPECT_TRUE(fields.Bool("tie"));
  EXPECT_EQ(fields.String("name"), "abc");
  EXPECT_THAT(fields.Strings("symbols"), testing::ElementsAre("a", "b"));
  EXPECT_EQ(fields.Object("lrnn").String("task"), "parity");
}

TEST(Fields, MissingAndNullTakeTheDefault) {
  const Fields fields = Example();
  for (const char* name : {"conv_size", "nowhere"}) {
    EXPECT_FALSE(fields.Has(name));
    EXPECT_EQ(fields.Int(name, 4), 4);
    EXPECT_EQ(fields.PositiveInt(name, 4), 4);
    EXPECT_EQ(fields.Double(name, 0.5), 0.5);
    EXPECT_TRUE(fields.Bool(name, true));
    EXPECT_EQ(fields.String(name, "l2"), "l2");
  }
  EXPECT_TRUE(fields.Has("zero"));
  EXPECT_EQ(fields.Int("hidden_size", 4), 128);
  EXPECT_EQ(fields.PositiveInt("hidden_size", 4), 128);
  EXPECT_EQ(fields.Double("expand", 4), 1.5);
  EXPECT_TRUE(fields.Bool("tie", false));
  EXPECT_EQ(fields.String("name", "l2"), "abc");
}

TEST(Fields, ErrorsGivePlaceAndValue) {
  const Fields fields = Example();
  const std::string place = "m/config.json: field ";
  EXPECT_EQ(MessageOf([&] { fields.Int("name"); }), place + R"("name": expected an integer, got "abc")");
  EXPECT_EQ(MessageOf([&] { fields.Int("name", 4); }), place + R"("name": expected an integer, got "abc")");
  EXPECT_EQ(MessageOf([&] { fields.Int("expand"); }), place + R"("expand": expected an integer, got 1.5)");
  EXPECT_EQ(MessageOf([&] { fields.Int("huge"); }), place + R"("huge": expected an integer, got 18446744073709551615)");
  EXPECT_EQ(MessageOf([&] { fields.PositiveInt("zero"); }), place + R"("zero": expected a positive integer, got 0)");
  EXPECT_EQ(MessageOf([&] { fields.PositiveInt("large"); }),
            place + R"("large": expected an integer below 2^31, got 2147483648)");
  EXPECT_EQ(MessageOf([&] { fields.PositiveInt("negative", 1); }),
            place + R"("negative": expected a positive integer, got -3)");
  EXPECT_EQ(MessageOf([&] { fields.Double("tie"); }), place + R"("tie": expected a number, got true)");
  EXPECT_EQ(MessageOf([&] { fields.Bool("zero"); }), place + R"("zero": expected true or false, got 0)");
  EXPECT_EQ(MessageOf([&] { fields.String("zero"); }), place + R"("zero": expected a string, got 0)");
  EXPECT_EQ(MessageOf([&] { fields.Strings("name"); }), place + R"("name": expected a list of strings, got "abc")");
  EXPECT_EQ(MessageOf([&] { fields.Strings("mixed"); }), place + R"("mixed": expected a list of strings, got ["a",1])");
  EXPECT_EQ(MessageOf([&] { fields.Object("zero"); }), place + R"("zero": expected an object, got 0)");
  EXPECT_EQ(MessageOf([&] { fields.Int("nowhere"); }), place + R"("nowhere" is missing)");
  EXPECT_EQ(MessageOf([&] { fields.Int("conv_size"); }), place + R"("conv_size" is missing)");
  EXPECT_EQ(MessageOf([&] { fields.Object("lrnn").Object("inner").Int("x"); }),
            place + R"("lrnn.inner.x": expected an integer, got "y")");
  EXPECT_EQ(MessageOf([&] { fields.Refuse("name", "l2 or sum"); }), place + R"("name": expected l2 or sum, got "abc")");
}

TEST(Fields, MustBeAnObject) {
  EXPECT_EQ(MessageOf([] { Fields(json::array({1}), "c.json"); }), "c.json: expected a JSON object, got [1]");
  EXPECT_EQ(MessageOf([] { Fields(std::string(100, 'x'), "c.json"); }),
            "c.json: expected a JSON object, got \"" + std::string(56, 'x') + "...");
}

}  // namespace
}  // namespace lrnn
