#include "lrnn/automata/regex.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lrnn/automata/minimise.h"
#include "lrnn/automata/operations.h"
#include "lrnn/automata/random_regex.h"
#include "lrnn/automata/utf8.h"
#include "lrnn/base/message_of.h"
#include "lrnn/base/timer.h"

namespace lrnn {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

RegexOptions Over(std::vector<std::string> alphabet) {
  RegexOptions options;
  options.alphabet = std::move(alphabet);
  return options;
}

const RegexOptions kAb = Over({"a", "b"});

// Whether the automaton accepts a word of one-character letters.
bool Accepts(const Dfa& dfa, std::string_view word) {
  std::vector<int> letters;
  for (const char c : word) {
    const auto place = std::find(dfa.letters.begin(), dfa.letters.end(), std::string(1, c));
    EXPECT_NE(place, dfa.letters.end()) << c;
    letters.push_back(static_cast<int>(place - dfa.letters.begin()));
  }
  return dfa.Accepts(letters);
}

TEST(Regex, ParityOfOnes) {
  const Dfa dfa = FromRegex("(0*10*1)*0*");
  EXPECT_NO_THROW(Validate(dfa));
  EXPECT_EQ(dfa.num_states, 2);
  EXPECT_THAT(dfa.letters, ElementsAre("0", "1"));
  EXPECT_THAT(dfa.next[0], ElementsAre(0, 1));
  EXPECT_THAT(dfa.next[1], ElementsAre(1, 0));
  EXPECT_TRUE(dfa.accepting[0]);
}

TEST(Regex, StatesOfKnownLanguages) {
  EXPECT_EQ(FromRegex("(ab)*").num_states, 3);
  EXPECT_EQ(FromRegex(".*abab.*", kAb).num_states, 5);
  EXPECT_EQ(FromRegex("(a|b)*a(a|b){8}").num_states, 512);
  EXPECT_EQ(FromRegex("", kAb).num_states, 2);
  EXPECT_EQ(FromRegex("~()", kAb).num_states, 2);
  EXPECT_EQ(FromRegex("a{1000}").num_states, 1002);
  EXPECT_EQ(FromRegex("(a{10}){10}").num_states, 102);
  EXPECT_EQ(FromRegex("(a{3})*&(a{5})*").num_states, 15);
  EXPECT_EQ(FromRegex("~(.*aa.*)&~(.*bb.*)", kAb).num_states, 4);
  EXPECT_EQ(FromRegex("a&b").num_states, 1);
  EXPECT_EQ(FromRegex(".*", kAb).num_states, 1);
  // The complement alone would have 2^21 states; together they are few.
  EXPECT_EQ(FromRegex("~(.*a.{20})&b{3}", kAb).num_states, 5);
}

TEST(Regex, Precedence) {
  const struct {
    const char* pattern;
    const char* same;
  } kPairs[] = {
      {"ab*", "a(b*)"},
      {"a|bc", "a|(bc)"},
      {"~ab", "(~a)b"},
      {"~a*", "~(a*)"},
      {"a~b*", "a(~(b*))"},
      {"a|b&c", "a|(b&c)"},
      {"ab&~ba", "(ab)&((~b)a)"},
      {"~~a", "a"},
      {"a+?", "(a+)?"},
      {"a{2}{3}", "a{6}"},
      {"(?:ab)+", "(ab)+"},
      {"a||b", "a|()|b"},
      {"a*?", "a*"},
      {"a*+", "a*"},
      {"[ab]", "a|b"},
      {"[^ab]", "c"},
      {"a{2,}", "aaa*"},
      {"a{0,2}", "(|a|aa)"},
      {"a{0}", "()"},
      {"(a?){1000}", "a{0,1000}"},
      {"(a+)*", "a*"},
      {"(a?b?)*", "[ab]*"},
      {"~(~a|~b)", "a&b"},
      {"(a|b)*&.{2}", "[ab]{2}"},
  };
  const RegexOptions abc = Over({"a", "b", "c"});
  for (const auto& [pattern, same] : kPairs) {
    EXPECT_TRUE(Equivalent(FromRegex(pattern, abc), FromRegex(same, abc))) << pattern << " " << same;
  }
}

TEST(Regex, EscapesAndClasses) {
  EXPECT_THAT(FromRegex("\\n\\t\\r\\f\\v\\0\\x41").letters,
              ElementsAre(std::string(1, '\0'), "\t", "\n", "\v", "\f", "\r", "A"));
  EXPECT_THAT(FromRegex("\\*\\[\\]\\~\\&\\-\\\\\\ ").letters, ElementsAre(" ", "&", "*", "-", "[", "\\", "]", "~"));
  EXPECT_EQ(FromRegex("\\d").num_letters(), 10);
  EXPECT_EQ(FromRegex("\\w").num_letters(), 63);
  EXPECT_EQ(FromRegex("\\s").num_letters(), 6);
  EXPECT_THAT(FromRegex("[a-c-]").letters, ElementsAre("-", "a", "b", "c"));
  EXPECT_THAT(FromRegex("[-\\]^.*]").letters, ElementsAre("*", "-", ".", "]", "^"));
  EXPECT_THAT(FromRegex("[^\\d]a").letters, ElementsAre("0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "a"));
  const Dfa other = FromRegex("\\Da|\\W|\\S\\d", Over({"a", "1", "-", " "}));
  EXPECT_TRUE(Accepts(other, "-a"));
  EXPECT_TRUE(Accepts(other, "-"));
  EXPECT_TRUE(Accepts(other, "a1"));
  EXPECT_FALSE(Accepts(other, " 1"));
  EXPECT_FALSE(Accepts(other, "1a"));
  EXPECT_FALSE(Accepts(other, "a"));
}

TEST(Regex, UnicodeCharactersAreLetters) {
  const Dfa dfa = FromRegex("é*[α-γ]😀");
  EXPECT_THAT(dfa.letters, ElementsAre("é", "α", "β", "γ", "😀"));
  EXPECT_TRUE(dfa.Accepts(std::vector<int>{0, 0, 2, 4}));
  EXPECT_FALSE(dfa.Accepts(std::vector<int>{0, 0, 4}));
  EXPECT_EQ(FromRegex("[\uD7FF-\uE000]").num_letters(), 2);  // surrogates between them are no characters
}

TEST(Regex, BytesAreLetters) {
  RegexOptions bytes;
  bytes.letters = RegexLetters::kBytes;
  const Dfa dfa = FromRegex("é*a\\n", bytes);
  EXPECT_THAT(dfa.letters, ElementsAre("<0x0A>", "a", "<0xA9>", "<0xC3>"));
  EXPECT_TRUE(dfa.Accepts(std::vector<int>{3, 2, 3, 2, 1, 0}));
  EXPECT_FALSE(dfa.Accepts(std::vector<int>{3, 2, 2, 1, 0}));
  EXPECT_THAT(FromRegex("[\\x80-\\x82]\xFF", bytes).letters, ElementsAre("<0x80>", "<0x81>", "<0x82>", "<0xFF>"));

  bytes.alphabet = ByteAlphabet();
  const Dfa text = FromRegex(".*é.*", bytes);
  EXPECT_EQ(text.num_letters(), 256);
  EXPECT_EQ(text.num_states, 3);
  EXPECT_EQ(text.RunFrom(text.start, std::vector<int>{'x', 0xC3, 0xA9, 'y'}), 2);
}

TEST(Regex, NamesAreLetters) {
  RegexOptions names;
  names.letters = RegexLetters::kNames;
  const Dfa dfa = FromRegex("( <left> <right>* )+\n| [^<left> <up>]", names);
  EXPECT_THAT(dfa.letters, ElementsAre("left", "right", "up"));
  EXPECT_TRUE(dfa.Accepts(std::vector<int>{0, 1, 1, 0}));
  EXPECT_TRUE(dfa.Accepts(std::vector<int>{1}));
  EXPECT_FALSE(dfa.Accepts(std::vector<int>{2}));
  names.alphabet = {"up", "left", "down"};
  EXPECT_THAT(FromRegex("~<up> & .<left>", names).letters, ElementsAre("up", "left", "down"));
}

TEST(Regex, AGivenAlphabetKeepsItsOrderAndBoundsClasses) {
  const Dfa dfa = FromRegex("[a-z]\\d*[^b]", Over({"c", "b", "7"}));
  EXPECT_THAT(dfa.letters, ElementsAre("c", "b", "7"));
  EXPECT_TRUE(Accepts(dfa, "b77c"));
  EXPECT_FALSE(Accepts(dfa, "b77b"));
  EXPECT_EQ(FromRegex("[^ab]", kAb).num_states, 1);  // no letter is left
}

TEST(Regex, TheStartIsTheFirstStateAndNumberingIsBreadthFirst) {
  for (const char* pattern : {"b*a(c|ab)*", "[bc]a|ab{3}c", "~(ca)*b"}) {
    const Dfa dfa = FromRegex(pattern);
    const Dfa trimmed = Trim(dfa);
    EXPECT_EQ(dfa.start, 0);
    EXPECT_EQ(dfa.next, trimmed.next);
  }
}

std::string MessageOfRegex(std::string_view pattern, const RegexOptions& options = {}) {
  return MessageOf([&] { FromRegex(pattern, options); });
}

TEST(Regex, ErrorsShowThePlace) {
  const struct {
    const char* pattern;
    const char* message;
  } kCases[] = {
      {"(ab", "regex:1:4: expected ')' before the end\n  (ab\n     ^"},
      {"a)b", "regex:1:2: ')' without '(' before it; write \\) for the letter\n  a)b\n   ^"},
      {"*a", "regex:1:1: expected a pattern before '*'; write \\* for the letter\n  *a\n  ^"},
      {"a|+", "regex:1:3: expected a pattern before '+'; write \\+ for the letter\n  a|+\n    ^"},
      {"(?=a)", "regex:1:2: expected a pattern before '?'; write \\? for the letter\n  (?=a)\n   ^"},
      {"{3}", "regex:1:1: expected a pattern before '{'; write \\{ for the letter\n  {3}\n  ^"},
      {"^a", "regex:1:1: no anchors: a pattern describes the whole word; write \\^ for the letter\n  ^a\n  ^"},
      {"a$", "regex:1:2: no anchors: a pattern describes the whole word; write \\$ for the letter\n  a$\n   ^"},
      {"a]", "regex:1:2: ']' without an opening bracket; write \\] for the letter\n  a]\n   ^"},
      {"a\nb}", "regex:2:2: '}' without an opening bracket; write \\} for the letter\n  b}\n   ^"},
      {"a~", "regex:1:3: expected a pattern after '~'\n  a~\n    ^"},
      {"(~)", "regex:1:3: expected a pattern after '~'\n  (~)\n    ^"},
      {"a&", "regex:1:3: expected a pattern after '&'; write () for the empty word\n  a&\n    ^"},
      {"a|&b", "regex:1:3: expected a pattern before '&'; write () for the empty word\n  a|&b\n    ^"},
      {"a{x}", "regex:1:3: expected a number as in {3}, {3,} or {3,5}; write \\{ for the letter\n  a{x}\n    ^"},
      {"a{3", "regex:1:4: expected '}'\n  a{3\n     ^"},
      {"a{3,2}", "regex:1:5: expected at least 3, got 2\n  a{3,2}\n      ^"},
      {"a{1001}", "regex:1:3: expected at most 1000 repetitions (max_repeat)\n  a{1001}\n    ^"},
      {"a{2,99999999999999999999}",
       "regex:1:5: expected at most 1000 repetitions (max_repeat)\n  a{2,99999999999999999999}\n      ^"},
      {"a[bc", "regex:1:2: '[' without ']' after it; write \\[ for the letter\n  a[bc\n   ^"},
      {"a[]", "regex:1:3: expected a letter in the class; write \\] for ']'\n  a[]\n    ^"},
      {"[^]", "regex:1:3: expected a letter in the class; write \\] for ']'\n  [^]\n    ^"},
      {"[[:alpha:]]", "regex:1:2: '[' inside a class; write \\[ for the letter\n  [[:alpha:]]\n   ^"},
      {"[az-b]", "regex:1:3: the range ends before it begins\n  [az-b]\n    ^"},
      {"[a-\\d]", "regex:1:2: expected a range between two letters\n  [a-\\d]\n   ^"},
      {"[a-", "regex:1:4: expected the end of the range\n  [a-\n     ^"},
      {"[\\D]", "regex:1:2: \\D, \\W and \\S have no place in a class; write [^...]\n  [\\D]\n   ^"},
      {"a\\", "regex:1:2: expected a character after '\\'\n  a\\\n   ^"},
      {"a\\q", "regex:1:2: unknown escape; \\ stands before n t r f v 0 d w s D W S xHH and punctuation\n  a\\q\n   ^"},
      {"\\x4", "regex:1:1: expected two hexadecimal digits after \\x\n  \\x4\n  ^"},
      {"a\xFF", "regex:1:2: the pattern is not UTF-8 here; write \\xHH, or let letters be bytes\n  a?\n   ^"},
      {"", "regex:1:1: the pattern names no letter; give an alphabet\n  \n  ^"},
      {".*", "regex:1:1: the pattern names no letter; give an alphabet\n  .*\n  ^"},
      {"[\\x00-😀]", "regex:1:1: the pattern names more than 65536 letters; give an alphabet\n  [\\x00-😀]\n  ^"},
  };
  for (const auto& [pattern, message] : kCases) EXPECT_EQ(MessageOfRegex(pattern), message);

  EXPECT_EQ(MessageOfRegex("abc", kAb), "regex:1:3: 'c' is not a letter of the alphabet (a b)\n  abc\n    ^");
  EXPECT_EQ(MessageOfRegex("[ac]", kAb), "regex:1:3: 'c' is not a letter of the alphabet (a b)\n  [ac]\n    ^");
  EXPECT_EQ(MessageOfRegex("a", Over({"ab"})),
            "[regex] expected the letters of the alphabet to be single characters, got 'ab'");
  EXPECT_EQ(MessageOfRegex("a", Over({"a", "a"})), "[regex] the alphabet has the letter 'a' twice");
  RegexOptions file;
  file.source = "rule.txt";
  EXPECT_THAT(MessageOfRegex("(", file), StartsWith("rule.txt:1:2: "));

  RegexOptions bytes;
  bytes.letters = RegexLetters::kBytes;
  EXPECT_EQ(MessageOfRegex("[é]", bytes),
            "regex:1:2: a class of bytes holds ASCII and \\xHH alone; write (a|b) for longer characters\n  [é]\n   ^");
  bytes.alphabet = {"<0xC3>", "a"};
  EXPECT_EQ(MessageOfRegex("aé", bytes), "regex:1:2: '<0xA9>' is not a letter of the alphabet (<0xC3> a)\n  aé\n   ^");
  bytes.alphabet = {"<0x41>"};
  EXPECT_EQ(MessageOfRegex("A", bytes),
            "[regex] expected the letters of the alphabet to be bytes (a, <0x0A>), got '<0x41>'");

  RegexOptions names;
  names.letters = RegexLetters::kNames;
  EXPECT_EQ(MessageOfRegex("<a> b", names),
            "regex:1:5: expected a letter in angle brackets, such as <left>\n  <a> b\n      ^");
  EXPECT_EQ(MessageOfRegex("<a b>", names), "regex:1:3: expected '>'\n  <a b>\n    ^");
  EXPECT_EQ(MessageOfRegex("<>", names), "regex:1:2: expected a name between '<' and '>'\n  <>\n   ^");
  EXPECT_EQ(MessageOfRegex("[<a>-<b>]", names), "regex:1:5: names have no ranges\n  [<a>-<b>]\n      ^");
  names.alphabet = {"a"};
  EXPECT_EQ(MessageOfRegex("<a><b>", names), "regex:1:4: 'b' is not a letter of the alphabet (a)\n  <a><b>\n     ^");
  names.alphabet = {"a b"};
  EXPECT_EQ(MessageOfRegex("<a>", names),
            "[regex] expected the letters of the alphabet to be words without blanks, < and >, got 'a b'");
}

TEST(Regex, LimitsAreNamed) {
  RegexOptions options;
  options.max_states = 100;
  EXPECT_EQ(MessageOfRegex("(a|b)*a(a|b){8}", options),
            "regex: the automaton has more than 100 states before it is minimised (max_states)");
  EXPECT_EQ(MessageOfRegex("((a{1000}){1000}){1000}"),
            "regex: the automaton has more than 10000 states before it is minimised (max_states)");
  EXPECT_EQ(MessageOfRegex("(((a?){1000}b?){1000}c?){1000}"),
            "regex: the pattern is too large: its automaton takes more than 64 MB or 16 million steps");
  EXPECT_EQ(MessageOfRegex("([\\x00-\uFFFF]{1000}){2}"), "regex: 2002 states and 63488 letters make too large a table");
  std::string classes = "[\\x00-\uFFFF]";
  for (int i = 0; i < 300; ++i) classes += "[^" + EncodeUtf8(0x4E00 + static_cast<uint32_t>(i)) + "]";
  EXPECT_EQ(MessageOfRegex(classes), "regex: the classes of the pattern hold more than 16777216 letters together");
  options.letters = RegexLetters::kNames;
  for (int i = 0; i <= 65536; ++i) options.alphabet.push_back(std::to_string(i));
  EXPECT_EQ(MessageOfRegex("<0>", options), "[regex] expected at most 65536 letters, got 65537");
  std::string names;
  for (const std::string& name : options.alphabet) names += "<" + name + ">";
  options.alphabet.clear();
  EXPECT_THAT(MessageOfRegex(names, options), StartsWith("regex:1:1: the pattern names more than 65536 letters\n"));
}

TEST(Regex, TenMegabytesFailOrFinishFast) {
  const auto repeat = [](std::string_view part, size_t bytes = 10'000'000) {
    std::string text;
    text.reserve(bytes + part.size());
    while (text.size() < bytes) text += part;
    return text;
  };
  const Timer timer;
  EXPECT_THAT(MessageOfRegex(repeat("(")), StartsWith("regex:1:501: brackets are nested more than 500 deep\n"));
  EXPECT_THAT(MessageOfRegex(repeat("~(")), HasSubstr("nested more than 500 deep"));
  EXPECT_THAT(MessageOfRegex(repeat("a")), HasSubstr("the pattern is too long: more than 1048576 parts\n"));
  EXPECT_THAT(MessageOfRegex(repeat("()")), HasSubstr("too long"));
  EXPECT_THAT(MessageOfRegex(repeat("|")), HasSubstr("too long"));
  EXPECT_THAT(MessageOfRegex("[" + repeat("ab")), HasSubstr("too long"));
  EXPECT_THAT(MessageOfRegex("a" + repeat("*")), HasSubstr("too long"));
  EXPECT_THAT(MessageOfRegex("a{" + repeat("9")), HasSubstr("max_repeat"));
  EXPECT_EQ(MessageOfRegex(repeat("~") + "a"), "");
  // Below the limit on parts.
  EXPECT_THAT(MessageOfRegex(repeat("a", 100'000)), HasSubstr("more than 10000 states"));
  EXPECT_THAT(MessageOfRegex(repeat("a?", 400'000)), HasSubstr("too large"));
  EXPECT_EQ(MessageOfRegex(repeat("a|", 400'000)), "");
  EXPECT_EQ(MessageOfRegex(repeat("a&", 400'000) + "a"), "");
  EXPECT_LT(timer.Seconds(), 20);
}

// Words of at most six letters tell automata of few states apart.
TEST(Regex, RandomPatternsMatchAsTheirDefinitionsSay) {
  std::vector<std::string> words = {""};
  for (size_t i = 0; i < words.size() && words[i].size() < 6; ++i) {
    for (const char letter : {'a', 'b', 'c'}) words.push_back(words[i] + letter);
  }
  ASSERT_EQ(words.size(), 1093u);
  int states = 0;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    Rng rng(seed, 5);
    const RandomRegex regex = MakeRandomRegex(rng, 1 + static_cast<int>(rng.Below(9)));
    const std::string pattern = regex.Pattern();
    const Dfa dfa = FromRegex(pattern, Over({"a", "b", "c"}));
    ASSERT_NO_THROW(Validate(dfa)) << pattern;
    ASSERT_EQ(Minimise(dfa).num_states, dfa.num_states) << pattern;
    for (const std::string& word : words) {
      ASSERT_EQ(Accepts(dfa, word), regex.Matches(word)) << pattern << " on '" << word << "'";
    }
    states += dfa.num_states;
  }
  EXPECT_GT(states, 1200);
}

TEST(Regex, DeepNestingWorks) {
  std::string pattern = "a";
  for (int i = 0; i < 249; ++i) pattern = "(~(" + pattern + ")b?|c)";
  EXPECT_NO_THROW(FromRegex(pattern));
}

}  // namespace
}  // namespace lrnn
