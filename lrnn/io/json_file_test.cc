#include "lrnn/io/json_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "lrnn/base/message_of.h"
#include "lrnn/io/atomic_file.h"
#include "lrnn/io/test_directory.h"

namespace lrnn {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

std::string ParseMessage(std::string_view text) {
  return MessageOf([&] { ParseJson(text, "c.json"); });
}

TEST(JsonFile, RoundTrip) {
  TestDirectory directory;
  const nlohmann::json value = {{"a", {1, 2.5, "ä"}}, {"b", nullptr}};
  WriteJson(directory / "c.json", value);
  EXPECT_EQ(ReadJson(directory / "c.json"), value);
  EXPECT_EQ(ReadFile(directory / "c.json").back(), '\n');
  WriteJson(directory / "c.json", {{"loss", std::nan("")}});
  EXPECT_EQ(ReadFile(directory / "c.json"), "{\n  \"loss\": null\n}\n");
}

TEST(JsonFile, ErrorsGiveThePlace) {
  EXPECT_THAT(
      ParseMessage("{\n  \"a\": 1,\n  \"b\": x\n}"),
      AllOf(StartsWith("c.json:3:8: invalid JSON: syntax error"), HasSubstr("invalid literal; last read: '\"b\": x'")));
  EXPECT_THAT(ParseMessage(""), AllOf(StartsWith("c.json:1:1: invalid JSON: "), HasSubstr("unexpected end of input")));
  EXPECT_THAT(ParseMessage("{\"a\": 1} 2"), StartsWith("c.json:1:10: invalid JSON: "));
  EXPECT_THAT(ParseMessage("[\"\xff\"]"), HasSubstr("ill-formed UTF-8"));
  EXPECT_EQ(ParseMessage(std::string_view("{}\n\0{}", 6)), "c.json:2:1: invalid JSON: a zero byte");
  EXPECT_THAT(ParseMessage("[1e999]"), StartsWith("c.json: invalid JSON: number overflow"));
}

TEST(JsonFile, RefusesKeysThatOccurTwice) {
  EXPECT_EQ(ParseMessage(R"({"a": {"b": 1, "c": 2, "b": 3}})"), "c.json: invalid JSON: the key \"b\" occurs twice");
  EXPECT_EQ(ParseMessage(R"({"a": {"b": 1}, "b": {"b": 2}, "c": [{"b": 1}, {"b": 2}]})"), "");
}

TEST(JsonFile, RefusesDeepNesting) {
  EXPECT_EQ(ParseMessage(std::string(64, '[') + std::string(64, ']')), "");
  EXPECT_EQ(ParseMessage(std::string(65, '[') + std::string(65, ']')), "c.json: invalid JSON: nested deeper than 64");
  EXPECT_EQ(ParseMessage(std::string(1'000'000, '[')), "c.json: invalid JSON: nested deeper than 64");
}

TEST(JsonFile, FilesThatCannotBeReadOrWritten) {
  TestDirectory directory;
  const std::string path = (directory / "c.json").string();
  EXPECT_EQ(MessageOf([&] { ReadJson(path); }), path + ": cannot open: No such file or directory");
  EXPECT_THAT(MessageOf([&] { WriteJson(path, "\xff"); }), StartsWith(path + ": cannot write as JSON: invalid UTF-8"));
  EXPECT_FALSE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace lrnn
