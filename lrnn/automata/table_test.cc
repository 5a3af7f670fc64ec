#include "lrnn/automata/table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lrnn/automata/random_dfa.h"
#include "lrnn/base/message_of.h"
#include "lrnn/base/timer.h"

namespace lrnn {
namespace {

using testing::ElementsAre;
using testing::StartsWith;

// The example of docs/automata_formats.md.
constexpr std::string_view kParity = R"(# An even number of 1s.
dfa 1                    # the version of the format; may be left out
letters 0    1
start   even
accept  even             # none, one or several states

even:   even odd         # where each letter leads, in the order of `letters`
odd:    odd  even
)";

TEST(Table, Reads) {
  const Dfa dfa = ReadTable(kParity, "parity.dfa");
  EXPECT_NO_THROW(Validate(dfa));
  EXPECT_EQ(dfa.num_states, 2);
  EXPECT_EQ(dfa.start, 0);
  EXPECT_THAT(dfa.letters, ElementsAre("0", "1"));
  EXPECT_THAT(dfa.next, ElementsAre(ElementsAre(0, 1), ElementsAre(1, 0)));
  EXPECT_THAT(dfa.accepting, ElementsAre(true, false));
}

TEST(Table, ReadsUnusualNames) {
  const Dfa dfa =
      ReadTable("dfa 1\r\nletters \\s # comment\r\nstart a\\:b\r\naccept\r\nstart:start\r\na\\:b: start", "x");
  EXPECT_THAT(dfa.letters, ElementsAre(" "));
  EXPECT_EQ(dfa.start, 1);
  EXPECT_THAT(dfa.next[0], ElementsAre(0, 0));
  EXPECT_THAT(dfa.accepting, ElementsAre(false, false));
}

TEST(Table, Writes) {
  EXPECT_EQ(WriteTable(ReadTable(kParity, "x")),
            "dfa 1\n"
            "letters  0  1\n"
            "start    q0\n"
            "accept   q0\n"
            "\n"
            "q0:      q0 q1\n"
            "q1:      q1 q0\n");
}

TEST(Table, WhatIsWrittenIsReadBack) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    Rng rng(seed, 6);
    Dfa dfa = RandomDfa(rng, 15, 3);
    dfa.letters = {"#", " ", "é:\\"};
    dfa.start = static_cast<int>(rng.Below(dfa.num_states));
    const Dfa read = ReadTable(WriteTable(dfa), "x");
    EXPECT_EQ(read.letters, dfa.letters);
    EXPECT_EQ(read.next, dfa.next);
    EXPECT_EQ(read.start, dfa.start);
    EXPECT_EQ(read.accepting, dfa.accepting);
  }
}

TEST(Table, ErrorsShowThePlace) {
  const struct {
    const char* text;
    const char* message;
  } kCases[] = {
      {"letters a\nstart q\naccept q\nq: r\n", "x:4:4: unknown state 'r'\n  q: r\n     ^"},
      {"letters a\nstart s\naccept q\nq: q\n", "x:2:7: unknown state 's'\n  start s\n        ^"},
      {"letters a\nstart q\naccept q r\nq: q\n", "x:3:10: unknown state 'r'\n  accept q r\n           ^"},
      {"letters a\nstart q\naccept q q\nq: q\n", "x:3:10: state 'q' is named twice\n  accept q q\n           ^"},
      {"letters a b\nstart q\naccept q\nq: q # b?\n",
       "x:4:5: state 'q' has no transition on 'b'\n  q: q # b?\n      ^"},
      {"letters a\nstart q\naccept q\nq: q q\n",
       "x:4:6: state 'q' has more transitions than there are letters (1)\n  q: q q\n       ^"},
      {"letters a\nstart q\naccept q\nq: q\nq: q\n", "x:5:1: state 'q' has a second line\n  q: q\n  ^"},
      {"letters a\nstart q\naccept q\n: q\n", "x:4:1: expected the state's name before ':'\n  : q\n  ^"},
      {"letters a b a\n", "x:1:13: letter 'a' is named twice\n  letters a b a\n              ^"},
      {"letters\n", "x:1:8: expected at least one letter\n  letters\n         ^"},
      {"letters a\nletters b\n", "x:2:1: a second line 'letters'\n  letters b\n  ^"},
      {"start p q\n", "x:1:10: expected one state after 'start', got 2\n  start p q\n           ^"},
      {"start q\nq: q\n", "x:2:1: expected a line 'letters ...' before the states\n  q: q\n  ^"},
      {"letters a\nq: q\nstart q\n", "x:3:1: expected the line 'start' before the states\n  start q\n  ^"},
      {"states 3\n",
       "x:1:1: expected 'letters ...', 'start ...', 'accept ...' or a state and ':', got 'states'\n  states 3\n  ^"},
      {"dfa 2\n", "x:1:1: expected 'dfa 1': this program reads version 1\n  dfa 2\n  ^"},
      {"letters \\q\n", "x:1:9: unknown escape; \\ stands before s n t r f v \\ # : xHH\n  letters \\q\n          ^"},
      {"", "x:1:1: expected a line 'letters ...'\n  \n  ^"},
      {"letters a\n", "x:2:1: expected a line 'start ...'\n  \n  ^"},
      {"letters a\nstart q\nq: q", "x:3:5: expected a line 'accept ...'\n  q: q\n      ^"},
      {"letters a\nstart q\naccept\n", "x:4:1: expected a line for each state, such as 'q0: q1 q2'\n  \n  ^"},
  };
  for (const auto& [text, message] : kCases) EXPECT_EQ(MessageOf([&] { ReadTable(text, "x"); }), message);
}

TEST(Table, TenMegabytesAreFast) {
  std::string text = "letters a\nstart s0\naccept\n";
  int states = 0;
  while (text.size() < 10'000'000) {
    text += fmt::format("s{}: s0\n", states);
    ++states;
  }
  const Timer timer;
  EXPECT_EQ(ReadTable(text, "x").num_states, states);
  const std::string message = MessageOf([] { ReadTable(std::string(10'000'000, 'a'), "x"); });
  EXPECT_THAT(message, StartsWith("x:1:1: expected 'letters ...'"));
  EXPECT_LT(message.size(), 500u);
  EXPECT_LT(timer.Seconds(), 20);
}

}  // namespace
}  // namespace lrnn
