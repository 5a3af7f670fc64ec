#include "lrnn/automata/fst_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "lrnn/automata/minimise.h"
#include "lrnn/automata/operations.h"
#include "lrnn/automata/random_dfa.h"
#include "lrnn/automata/regex.h"
#include "lrnn/base/message_of.h"
#include "lrnn/base/timer.h"

namespace lrnn {
namespace {

using testing::ElementsAre;
using testing::StartsWith;

TEST(FstText, Writes) {
  const FstText text = WriteFst({2, {"a", " "}, {{1, 0}, {0, 1}}, 1, {true, false}});
  EXPECT_EQ(text.arcs,
            "1 0 a\n"
            "1 1 \\s\n"
            "0 1 a\n"
            "0 0 \\s\n"
            "0\n");
  EXPECT_EQ(text.symbols, "<eps> 0\na 1\n\\s 2\n");
}

TEST(FstText, WhatIsWrittenIsReadBack) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    Rng rng(seed, 8);
    Dfa dfa = RandomDfa(rng, 12, 4);
    dfa.letters = {"<eps>", "0", "#", "\n"};
    dfa.start = static_cast<int>(rng.Below(dfa.num_states));
    const Dfa expected = Trim(dfa);
    const Dfa read = ReadFst(WriteFst(dfa));
    EXPECT_EQ(read.letters, expected.letters);
    EXPECT_EQ(read.next, expected.next);
    EXPECT_EQ(read.start, expected.start);
    EXPECT_EQ(read.accepting, expected.accepting);
  }
}

TEST(FstText, MakesAcceptorsDeterministicAndComplete) {
  // a*(ab)?, with an empty move and two arcs for the letter a; state numbers need not be dense.
  const Dfa dfa = ReadFst({"7 7 a\n7 900 <eps>\n7 3 a 0\n3 900 b\n900 0\n", "<eps> 0\nb 5\na 2\nc 9\n"});
  EXPECT_THAT(dfa.letters, ElementsAre("a", "b", "c"));
  RegexOptions abc;
  abc.alphabet = {"a", "b", "c"};
  EXPECT_TRUE(Equivalent(dfa, FromRegex("a*(ab)?", abc)));
}

TEST(FstText, ReadsABackslashOfOthers) { EXPECT_THAT(ReadFst({"0 1 \\\n1\n", "\\ 92\n"}).letters, ElementsAre("\\")); }

TEST(FstText, LabelsAreNumbersWithoutASymbolTable) {
  const Dfa dfa = ReadFst({"0 1 12\n1 2 0\n2 0 3\n2\n", ""});
  EXPECT_THAT(dfa.letters, ElementsAre("3", "12"));
  EXPECT_TRUE(dfa.Accepts(std::vector<int>{1, 0, 1}));
  EXPECT_FALSE(dfa.Accepts(std::vector<int>{1, 0}));
}

TEST(FstText, ErrorsShowThePlace) {
  const struct {
    FstText text;
    const char* message;
  } kCases[] = {
      {{"", ""}, "fst:1:1: expected at least one line\n  \n  ^"},
      {{"0\n", ""}, "fst:1:1: the acceptor has no letter; give a symbol table\n  0\n  ^"},
      {{"0 1 1\nx 1 1\n", ""}, "fst:2:1: expected a state's number, got 'x'\n  x 1 1\n  ^"},
      {{"0 -1 1\n", ""}, "fst:1:3: expected a state's number, got '-1'\n  0 -1 1\n    ^"},
      {{"0 99999999999 1\n", ""}, "fst:1:3: expected a state's number, got '99999999999'\n  0 99999999999 1\n    ^"},
      {{"0 1 a\n", ""}, "fst:1:5: expected a label's number (there is no symbol table), got 'a'\n  0 1 a\n      ^"},
      {{"0 1 a a\n", "a 1\n"},
       "fst:1:7: expected the weight 0, got 'a': neither transducers nor weights are read\n  0 1 a a\n        ^"},
      {{"0 1 a\n1 0.5\n", "a 1\n"},
       "fst:2:3: expected the weight 0, got '0.5': neither transducers nor weights are read\n  1 0.5\n    ^"},
      {{"0 1 a a 0\n", "a 1\n"}, "fst:1:9: expected 'from to label' or 'state', got 5 words\n  0 1 a a 0\n          ^"},
      {{"0 1 b\n", "a 1\n"}, "fst:1:5: 'b' is not in the symbol table\n  0 1 b\n      ^"},
      {{"0 1 a\n", "a 1 2\n"}, "symbols:1:1: expected 'name number', got 3 words\n  a 1 2\n  ^"},
      {{"0 1 a\n", "a x\n"}, "symbols:1:3: expected a label's number, got 'x'\n  a x\n    ^"},
      {{"0 1 a\n", "a 1\na 2\n"}, "symbols:2:1: symbol 'a' is named twice\n  a 2\n  ^"},
      {{"0 1 a\n", "a 1\nb 1\n"}, "symbols:2:3: symbols 'a' and 'b' have the same number\n  b 1\n    ^"},
      {{"0 1 a\n", "a 1\n\\x61 2\n"},
       "symbols:2:1: symbol '\\x61' stands for a letter that has another symbol\n  \\x61 2\n  ^"},
      {{"0 1 a\n", "a 1\n\\q 2\n"},
       "symbols:2:1: unknown escape; \\ stands before s n t r f v \\ # : xHH\n  \\q 2\n  ^"},
  };
  for (const auto& [text, message] : kCases) EXPECT_EQ(MessageOf([&] { ReadFst(text); }), message);
  EXPECT_THAT(MessageOf([] { ReadFst({"x", ""}, {"a.txt", "a.syms"}); }), StartsWith("a.txt:1:1: "));
  EXPECT_EQ(MessageOf([] {
              ReadFst({"0 1 1\n1 2 1\n2\n", ""}, {}, 2);
            }),
            "[determinise] the deterministic automaton has more than 2 states (max_states)");
}

TEST(FstText, TenMegabytesAreFast) {
  std::string arcs;
  for (int q = 0; arcs.size() < 10'000'000; ++q) arcs += fmt::format("{} {} 1\n", q, q + 1);
  const Timer timer;
  EXPECT_EQ(MessageOf([&] {
              ReadFst({arcs, ""});
            }),
            "[determinise] the deterministic automaton has more than 100000 states (max_states)");
  EXPECT_LT(timer.Seconds(), 20);
}

// OpenFst's own tools, where they are installed, read what we write, and we read what they print.
TEST(FstText, OpenFstReadsAndPrintsIt) {
  if (std::system("command -v fstcompile > /dev/null && command -v fstprint > /dev/null") != 0) {
    GTEST_SKIP() << "fstcompile is not installed";
  }
  const std::filesystem::path directory =
      std::filesystem::path(testing::TempDir()) / fmt::format("lrnn_fst_text_{}", getpid());
  std::filesystem::create_directories(directory);
  const auto write = [&](const char* name, const std::string& text) { std::ofstream(directory / name) << text; };
  for (const char* pattern : {"(ab)*", "~(.*a .*)#?", "é+|<eps>"}) {
    const Dfa dfa = FromRegex(pattern);
    const FstText text = WriteFst(dfa);
    write("a.txt", text.arcs);
    write("a.syms", text.symbols);
    const std::string commands = fmt::format(
        "cd '{}' && fstcompile --acceptor --isymbols=a.syms a.txt a.fst && "
        "fstprint --acceptor --isymbols=a.syms a.fst printed.txt",
        directory.string());
    ASSERT_EQ(std::system(commands.c_str()), 0) << pattern;
    std::ostringstream printed;
    printed << std::ifstream(directory / "printed.txt").rdbuf();
    EXPECT_TRUE(Equivalent(ReadFst({printed.str(), text.symbols}), dfa)) << pattern;
  }
  std::filesystem::remove_all(directory);
}

}  // namespace
}  // namespace lrnn
