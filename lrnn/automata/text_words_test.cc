#include "lrnn/automata/text_words.h"

#include <gtest/gtest.h>

#include "lrnn/base/message_of.h"

namespace lrnn {
namespace {

std::vector<std::string> Lines(std::string_view text, TextLines::Comments comments) {
  TextLines lines({text, "x"}, comments);
  std::vector<std::string> joined;
  while (lines.Next()) {
    std::string line;
    for (const TextWord& word : lines.words()) {
      EXPECT_EQ(text.substr(word.place, word.text.size()), word.text);
      line += "[" + std::string(word.text) + "]";
    }
    joined.push_back(line);
    EXPECT_EQ(lines.end(), lines.words().back().place + lines.words().back().text.size());
  }
  return joined;
}

TEST(TextWords, LinesOfWords) {
  using Strings = std::vector<std::string>;
  EXPECT_EQ(Lines("a b\n\n \t\n# c\n  d#e\t#f\r\n#", TextLines::Comments::kHash), (Strings{"[a][b]", "[d#e]"}));
  EXPECT_EQ(Lines("# 1\r\nb", TextLines::Comments::kNone), (Strings{"[#][1]", "[b]"}));
  EXPECT_EQ(Lines("", TextLines::Comments::kNone), Strings{});
  EXPECT_EQ(Lines("\n\n", TextLines::Comments::kNone), Strings{});
}

TEST(TextWords, EveryNameSurvivesARoundTrip) {
  for (int c = 0; c < 256; ++c) {
    for (const std::string& name : {std::string(1, static_cast<char>(c)), std::string("a") + static_cast<char>(c)}) {
      const std::string word = EscapeWord(name);
      EXPECT_EQ(UnescapeWord({word, 0}, {word, "x"}), name);
      EXPECT_EQ(Lines(word, TextLines::Comments::kHash), std::vector<std::string>{"[" + word + "]"});
    }
  }
  EXPECT_EQ(EscapeWord(" \n#é\\\x01:"), "\\s\\n#é\\\\\\x01:");
  EXPECT_EQ(EscapeWord("#"), "\\#");
}

TEST(TextWords, Errors) {
  const auto message = [](std::string_view word) { return MessageOf([&] { UnescapeWord({word, 0}, {word, "x"}); }); };
  EXPECT_EQ(message("a\\q"), "x:1:2: unknown escape; \\ stands before s n t r f v \\ # : xHH\n  a\\q\n   ^");
  EXPECT_EQ(message("a\\"), "x:1:2: unknown escape; \\ stands before s n t r f v \\ # : xHH\n  a\\\n   ^");
  EXPECT_EQ(message("\\x4"), "x:1:1: expected two hexadecimal digits after \\x\n  \\x4\n  ^");
  EXPECT_EQ(message("\\x4g"), "x:1:1: expected two hexadecimal digits after \\x\n  \\x4g\n  ^");
  EXPECT_EQ(MessageOf([] { EscapeWord(""); }), "[automata] a letter without a name cannot be written");
}

}  // namespace
}  // namespace lrnn
