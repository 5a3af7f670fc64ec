#include "lrnn/report/field_checks.h"

#include <gtest/gtest.h>

#include "lrnn/base/message_of.h"

namespace lrnn {
namespace {

Fields Make(const char* text) { return Fields(nlohmann::json::parse(text), "x.json"); }

TEST(FieldChecks, Format) {
  CheckFormat(Make(R"({"format": "lrnn.eval", "version": 1})"), "lrnn.eval", 1);
  EXPECT_EQ(MessageOf([] { CheckFormat(Make(R"({"format": "lrnn.train", "version": 1})"), "lrnn.eval", 1); }),
            R"(x.json: field "format": expected "lrnn.eval", got "lrnn.train")");
  EXPECT_EQ(MessageOf([] { CheckFormat(Make(R"({"format": "lrnn.eval", "version": 2})"), "lrnn.eval", 1); }),
            R"(x.json: field "version": expected 1, got 2)");
  EXPECT_EQ(MessageOf([] { CheckFormat(Make(R"({"version": 1})"), "lrnn.eval", 1); }),
            R"(x.json: field "format" is missing)");
}

TEST(FieldChecks, Task) {
  EXPECT_EQ(MessageOf([] { CheckTask(Make(R"({"task": "even_pairs"})"), "parity"); }),
            R"(x.json: field "task": expected "parity" as in config.toml, got "even_pairs")");
}

TEST(FieldChecks, NumbersThatAreNotNegative) {
  EXPECT_EQ(NonNegativeInt(Make(R"({"n": 0})"), "n"), 0);
  EXPECT_EQ(NonNegative(Make(R"({"n": 1.5})"), "n"), 1.5);
  EXPECT_EQ(MessageOf([] { NonNegativeInt(Make(R"({"n": -1})"), "n"); }),
            R"(x.json: field "n": expected an integer that is not negative, got -1)");
  EXPECT_EQ(MessageOf([] { NonNegative(Make(R"({"n": -0.5})"), "n"); }),
            R"(x.json: field "n": expected a number that is not negative, got -0.5)");
}

TEST(FieldChecks, LengthRange) {
  EXPECT_EQ(LengthRange(Make(R"({"lengths": [3, 40]})"), "lengths"), nlohmann::json({3, 40}));
  EXPECT_EQ(MessageOf([] { LengthRange(Make("{}"), "lengths"); }), R"(x.json: field "lengths" is missing)");
  for (const char* text : {R"({"lengths": [40, 3]})", R"({"lengths": [0, 3]})", R"({"lengths": [3]})",
                           R"({"lengths": 3})", R"({"lengths": [3, 4.5]})"}) {
    EXPECT_EQ(MessageOf([text] {
                LengthRange(Make(text), "lengths");
              }).find(R"(x.json: field "lengths": expected two lengths [low, high], got )"),
              0)
        << text;
  }
}

TEST(FieldChecks, Numbers) {
  EXPECT_EQ(Numbers(Make(R"({"edges": [-1, 0.5]})"), "edges"), (std::vector<double>{-1, 0.5}));
  EXPECT_EQ(MessageOf([] { Numbers(Make("{}"), "edges"); }), R"(x.json: field "edges" is missing)");
  EXPECT_EQ(MessageOf([] { Numbers(Make(R"({"edges": [1, null]})"), "edges"); }),
            R"(x.json: field "edges": expected a list of numbers, got [1,null])");
  EXPECT_EQ(MessageOf([] { Numbers(Make(R"({"edges": 1})"), "edges"); }),
            R"(x.json: field "edges": expected a list of numbers, got 1)");
}

TEST(FieldChecks, ObjectsNameTheirPlace) {
  const std::vector<Fields> rows = Objects(Make(R"({"rows": [{"n": 1}, {"n": "two"}]})"), "rows");
  EXPECT_EQ(rows[0].Int("n"), 1);
  EXPECT_EQ(MessageOf([&] { rows[1].Int("n"); }), R"(x.json: rows[1]: field "n": expected an integer, got "two")");
  EXPECT_EQ(MessageOf([] { Objects(Make(R"({"rows": {}})"), "rows"); }),
            R"(x.json: field "rows": expected a list of objects, got {})");
  EXPECT_EQ(MessageOf([] { Objects(Make(R"({"rows": [1]})"), "rows"); }),
            "x.json: rows[0]: expected a JSON object, got 1");
}

}  // namespace
}  // namespace lrnn
