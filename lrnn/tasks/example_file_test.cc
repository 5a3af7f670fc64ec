#include "lrnn/tasks/example_file.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "lrnn/base/message_of.h"
#include "lrnn/tasks/temporary_file.h"
#include "lrnn/tasks/text_file.h"

namespace lrnn {
namespace {

using Symbols = std::vector<std::string>;

std::vector<FileExample> Read(const std::string& name, const std::string& text) {
  return ReadExamples(TemporaryFile(name, text).path());
}

// The message for a file with this text, without the folder.
std::string MessageFor(const std::string& name, const std::string& text) {
  const TemporaryFile file(name, text);
  const std::string message = MessageOf([&] { ReadExamples(file.path()); });
  return message.starts_with(file.path()) ? name + message.substr(file.path().size()) : message;
}

TEST(ExampleFile, JsonLines) {
  const auto examples = Read("good.jsonl", R"({"tokens": ["a", "b", 3], "targets": [null, "odd", -7]}

{"tokens": "a  b a", "target": "even", "note": "ignored"}
{"tokens": "a b", "targets": "null x"})"
                                           "\r\n");
  ASSERT_EQ(examples.size(), 3u);
  EXPECT_EQ(examples[0].tokens, (Symbols{"a", "b", "3"}));
  EXPECT_EQ(examples[0].targets, (Symbols{"", "odd", "-7"}));
  EXPECT_EQ(examples[1].tokens, (Symbols{"a", "b", "a"}));
  EXPECT_EQ(examples[1].targets, (Symbols{"", "", "even"}));
  EXPECT_EQ(examples[1].line, 3);
  EXPECT_EQ(examples[2].targets, (Symbols{"", "x"}));
}

TEST(ExampleFile, Csv) {
  const auto examples =
      Read("good.csv", "id,tokens,targets\r\n1,a b a,null odd even\r\n\r\n2,\"a , \"\"\",\"null , null\"");
  ASSERT_EQ(examples.size(), 2u);
  EXPECT_EQ(examples[0].tokens, (Symbols{"a", "b", "a"}));
  EXPECT_EQ(examples[0].targets, (Symbols{"", "odd", "even"}));
  EXPECT_EQ(examples[1].tokens, (Symbols{"a", ",", "\""}));
  EXPECT_EQ(examples[1].targets, (Symbols{"", ",", ""}));
  EXPECT_EQ(examples[1].line, 4);
  EXPECT_EQ(Read("last.csv", "tokens,target\na b,x\n")[0].targets, (Symbols{"", "x"}));
}

TEST(ExampleFile, ErrorsOfJsonLines) {
  const std::string good = "{\"tokens\": \"a\", \"target\": \"b\"}\n";
  EXPECT_EQ(MessageFor("x.jsonl", good + "{\"tokens\": \"a\""),
            "x.jsonl:2: expected a JSON object with \"tokens\" and \"targets\" or \"target\"");
  EXPECT_EQ(MessageFor("x.jsonl", "[1]"),
            "x.jsonl:1: expected a JSON object with \"tokens\" and \"targets\" or \"target\"");
  EXPECT_EQ(MessageFor("x.jsonl", good + good + "{\"target\": \"b\"}"), "x.jsonl:3: \"tokens\" is missing");
  EXPECT_EQ(MessageFor("x.jsonl", "{\"tokens\": \"a\"}"), "x.jsonl:1: expected either \"targets\" or \"target\"");
  EXPECT_EQ(MessageFor("x.jsonl", "{\"tokens\": [], \"target\": 1}"), "x.jsonl:1: expected at least one token");
  EXPECT_EQ(MessageFor("x.jsonl", "{\"tokens\": [1, 2], \"targets\": [1]}"),
            "x.jsonl:1: expected a target or null for each of the 2 tokens, got 1");
  EXPECT_EQ(MessageFor("x.jsonl", "{\"tokens\": [1, 2], \"targets\": [null, null]}"),
            "x.jsonl:1: expected at least one target");
  EXPECT_EQ(MessageFor("x.jsonl", "{\"tokens\": [1.5], \"target\": 1}"),
            "x.jsonl:1: expected a symbol (a string without blanks, or an integer), got 1.5");
  EXPECT_EQ(MessageFor("x.jsonl", "{\"tokens\": [1], \"target\": \"a b\"}"),
            "x.jsonl:1: expected a symbol (a string without blanks, or an integer), got \"a b\"");
  EXPECT_EQ(MessageFor("x.jsonl", "{\"tokens\": 5, \"target\": 1}"), "x.jsonl:1: expected a list of symbols, got 5");
  EXPECT_EQ(MessageFor("x.jsonl", "\n\n"), "x.jsonl: expected at least one example");
}

TEST(ExampleFile, ErrorsOfCsv) {
  EXPECT_EQ(MessageFor("x.csv", "words,target\n"),
            "x.csv:1: expected a header with the columns tokens and either targets or target");
  EXPECT_EQ(MessageFor("x.csv", "tokens,target,targets\n"),
            "x.csv:1: expected a header with the columns tokens and either targets or target");
  EXPECT_EQ(MessageFor("x.csv", "tokens,target\na b,x\na,b,c\n"), "x.csv:3: expected 2 fields, got 3");
  EXPECT_EQ(MessageFor("x.csv", "tokens,target\n\"a b,x\n"), "x.csv:2: a quote is not closed");
  EXPECT_EQ(MessageFor("x.csv", "tokens,target\na b,x y\n"), "x.csv:2: expected one target, got \"x y\"");
  EXPECT_EQ(MessageFor("x.csv", "tokens,target\n"), "x.csv: expected at least one example");
}

TEST(ExampleFile, ErrorsOfFiles) {
  EXPECT_EQ(MessageOf([] { ReadExamples("no/such.jsonl"); }), "no/such.jsonl: no such file");
  EXPECT_EQ(MessageFor("x.txt", "a"), "x.txt: expected a file name that ends in .jsonl or .csv");
  EXPECT_EQ(MessageFor("empty.csv", ""), "empty.csv: cannot be read, or is empty");
  const std::string folder = std::filesystem::temp_directory_path().string() + "/";
  EXPECT_EQ(MessageOf([&] { ReadTextFile(folder); }), folder + ": expected a file, got a directory");
}

}  // namespace
}  // namespace lrnn
