#include "lrnn/automata/text_place.h"

#include <gtest/gtest.h>

#include "lrnn/base/message_of.h"

namespace lrnn {
namespace {

TEST(TextPlace, ShowsTheLineAndACaret) {
  EXPECT_EQ(MessageAt("regex", "(ab", 3, "expected ')' before the end"),
            "regex:1:4: expected ')' before the end\n"
            "  (ab\n"
            "     ^");
  EXPECT_EQ(MessageAt("a.dfa", "one\ntwo three\nfour", 8, "no"),
            "a.dfa:2:5: no\n"
            "  two three\n"
            "      ^");
  EXPECT_EQ(MessageAt("x", "", 0, "empty"), "x:1:1: empty\n  \n  ^");
  EXPECT_EQ(MessageAt("x", "a\n", 2, "end"), "x:2:1: end\n  \n  ^");
  EXPECT_EQ(MessageAt("x", "ab\ncd", 2, "newline"), "x:1:3: newline\n  ab\n    ^");
}

TEST(TextPlace, CountsCharactersNotBytes) {
  EXPECT_EQ(MessageAt("x", "é∀z", 5, "here"), "x:1:3: here\n  é∀z\n    ^");
  EXPECT_EQ(MessageAt("x", "a\tb\r", 2, "tab"), "x:1:3: tab\n  a b \n    ^");
  EXPECT_EQ(MessageAt("x", "a\xFFz", 2, "bytes"), "x:1:3: bytes\n  a?z\n    ^");
}

TEST(TextPlace, CutsLongLinesAroundTheCaret) {
  const std::string text = std::string(5'000'000, 'a') + "X" + std::string(5'000'000, 'b');
  EXPECT_EQ(MessageAt("x", text, 5'000'000, "here"), "x:1:5000001: here\n  ..." + std::string(50, 'a') + "X" +
                                                         std::string(24, 'b') + "...\n  " + std::string(53, ' ') + "^");
}

TEST(TextPlace, CutsLongMessagesInTheMiddle) {
  const std::string word(10'000'000, 'a');
  EXPECT_EQ(MessageAt("x", "a", 0, "no '" + word + "' here"),
            "x:1:1: no '" + std::string(146, 'a') + "..." + std::string(94, 'a') + "' here\n  a\n  ^");
  EXPECT_EQ(MessageAt("x", "a", 0, std::string(250, 'a')), "x:1:1: " + std::string(250, 'a') + "\n  a\n  ^");
}

TEST(TextPlace, SourceTextThrowsTheMessage) {
  const SourceText source{"ab", "file"};
  EXPECT_EQ(MessageOf([&] { source.FailAt(1, "got {}", 7); }), "file:1:2: got 7\n  ab\n   ^");
}

}  // namespace
}  // namespace lrnn
