#include "lrnn/runtime/vocabulary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lrnn/base/message_of.h"

namespace lrnn {
namespace {

using testing::ElementsAre;

std::string ParseMessage(const Vocabulary& vocabulary, std::string_view word) {
  return MessageOf([&] { vocabulary.Parse(word); });
}

TEST(Vocabulary, WordsAreSymbolsOrMadeOfLetters) {
  const Vocabulary vocabulary({"<pad>", "0", "1", "σ", "10x"}, 5);
  EXPECT_THAT(vocabulary.Parse("1"), ElementsAre(2));
  EXPECT_THAT(vocabulary.Parse("<pad>"), ElementsAre(0));
  EXPECT_THAT(vocabulary.Parse("1011"), ElementsAre(2, 1, 2, 2));
  EXPECT_THAT(vocabulary.Parse("1σ0"), ElementsAre(2, 3, 1));
  EXPECT_THAT(vocabulary.Parse("10x"), ElementsAre(4));
  EXPECT_EQ(vocabulary.Name(0), "<pad>");
  EXPECT_EQ(vocabulary.Name(3), "σ");
}

TEST(Vocabulary, NumbersNameTokensWithoutSymbol) {
  const Vocabulary numbers({}, 300);
  EXPECT_THAT(numbers.Parse("299"), ElementsAre(299));
  EXPECT_THAT(numbers.Parse("0"), ElementsAre(0));
  EXPECT_EQ(numbers.Name(299), "299");
  EXPECT_EQ(ParseMessage(numbers, "300"), "unknown word \"300\": expected a token number 0 .. 299");
  EXPECT_EQ(ParseMessage(numbers, "-1"), "unknown word \"-1\": expected a token number 0 .. 299");
  EXPECT_EQ(ParseMessage(numbers, "99999999999999999999"),
            "unknown word \"99999999999999999999\": expected a token number 0 .. 299");

  const Vocabulary padded({"a", "b"}, 8);
  EXPECT_THAT(padded.Parse("2"), ElementsAre(2));
  EXPECT_EQ(padded.Name(2), "2");
  EXPECT_EQ(ParseMessage(padded, "1"), "unknown word \"1\": expected one of the symbols a b or a token number 2 .. 7");
}

TEST(Vocabulary, UnknownWordsListTheSymbols) {
  const Vocabulary parity({"<pad>", "0", "1"}, 3);
  // Not token 2, whose symbol is "1".
  EXPECT_EQ(ParseMessage(parity, "2"), "unknown word \"2\": expected one of the symbols <pad> 0 1");
  EXPECT_EQ(ParseMessage(parity, "102"), "unknown word \"102\": expected one of the symbols <pad> 0 1");
  EXPECT_EQ(ParseMessage(parity, ""), "unknown word \"\": expected one of the symbols <pad> 0 1");

  std::vector<std::string> symbols;
  for (int i = 0; i < 120; ++i) symbols.push_back("g" + std::to_string(i));
  EXPECT_THAT(ParseMessage(Vocabulary(symbols, 120), "h"), testing::EndsWith(" g38 g39 ... (120 in all)"));
}

TEST(Vocabulary, FromConfig) {
  const auto from = [](const char* text) {
    return Vocabulary::FromConfig(Fields(nlohmann::json::parse(text), "c.json"));
  };
  const Vocabulary parity = from(R"({"vocab_size": 3, "lrnn": {"symbols": ["<pad>", "0", "1"], "task": "parity"}})");
  EXPECT_THAT(parity.symbols(), ElementsAre("<pad>", "0", "1"));
  EXPECT_EQ(parity.task(), "parity");
  EXPECT_EQ(from(R"({"vocab_size": 3})").size(), 3);
  EXPECT_EQ(from(R"({"vocab_size": 3, "lrnn": {"task": "parity"}})").task(), "parity");
  EXPECT_EQ(MessageOf([&] { from(R"({"vocab_size": 1, "lrnn": {"symbols": ["a", "b"]}})"); }),
            "c.json: field \"lrnn.symbols\": expected at most 1 symbols, got 2");
  EXPECT_EQ(MessageOf([&] { from(R"({"vocab_size": 2, "lrnn": {"symbols": ["a", "a"]}})"); }),
            "c.json: field \"lrnn.symbols\": expected different symbols, got \"a\" twice");
  EXPECT_EQ(MessageOf([&] { from(R"({"vocab_size": 2, "lrnn": {"symbols": ["a", ""]}})"); }),
            "c.json: field \"lrnn.symbols\": expected symbols of at least one character, got \"\"");
  EXPECT_EQ(MessageOf([&] { from(R"({"vocab_size": 2, "lrnn": {"symbols": "ab"}})"); }),
            "c.json: field \"lrnn.symbols\": expected a list of strings, got \"ab\"");
  EXPECT_EQ(MessageOf([] { Vocabulary({"a", "a"}, 2); }), "[Vocabulary] expected different symbols, got \"a\" twice");
  EXPECT_EQ(MessageOf([&] { parity.Name(3); }), "[Vocabulary::Name] expected a token in 0 .. 2, got 3");
}

}  // namespace
}  // namespace lrnn
