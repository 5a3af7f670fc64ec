#include "lrnn/tasks/automaton.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <regex>

#include "lrnn/base/message_of.h"
#include "lrnn/tasks/registry.h"
#include "lrnn/tasks/temporary_file.h"

namespace lrnn {
namespace {

using testing::HasSubstr;

// By the regular expressions of the standard library.
TEST(Automaton, AcceptanceOfEveryPrefix) {
  for (const std::string pattern : {"(a|b)*abb", "(ab)*", "a(a|b)?b*", "b*(ab*ab*)*"}) {
    SCOPED_TRACE(pattern);
    for (const char* letters : {"uniform", "live"}) {
      const auto task = MakeTask("regex", {{"regex", pattern}, {"letters", letters}});
      EXPECT_THAT(task->symbols(), testing::ElementsAre("a", "b", "<reject>", "<accept>"));
      EXPECT_EQ(task->chance(), 0.5);
      EXPECT_EQ(task->score(), Score::kTokens);
      for (uint64_t i = 0; i < 20; ++i) {
        const auto [tokens, targets] = ReadExample(*task, 20, Rng(1, i));
        ASSERT_EQ(tokens.size(), 20u);
        std::string word;
        for (size_t t = 0; t < tokens.size(); ++t) {
          word += "ab"[tokens[t]];
          EXPECT_EQ(targets[t], 2 + std::regex_match(word, std::regex(pattern))) << word;
        }
      }
    }
  }
}

constexpr char kThirds[] = R"(# Binary numbers modulo 3.
letters 0 1
start  r0
accept r0
r0: r0 r1
r1: r2 r0
r2: r1 r2
)";

TEST(Automaton, StatesFromATable) {
  const TemporaryFile file("thirds.dfa", kThirds);
  const auto task = MakeTask("dfa", {{"file", file.path()}, {"predict", "state"}});
  EXPECT_THAT(task->symbols(), testing::ElementsAre("0", "1", "<q0>", "<q1>", "<q2>"));
  EXPECT_DOUBLE_EQ(task->chance(), 1.0 / 3);
  for (uint64_t i = 0; i < 50; ++i) {
    const auto [tokens, targets] = ReadExample(*task, 40, Rng(1, i));
    int64_t number = 0;
    for (size_t t = 0; t < tokens.size(); ++t) {
      number = 2 * number + tokens[t];
      EXPECT_EQ(targets[t], 2 + number % 3);
    }
  }
}

TEST(Automaton, PatternFromAFile) {
  const TemporaryFile file("abb.regex", "(a|b)*abb\n");
  const auto from_file = MakeTask("dfa", {{"file", file.path()}});
  const auto direct = MakeTask("regex", {{"regex", "(a|b)*abb"}});
  EXPECT_EQ(ReadExample(*from_file, 50, Rng(1, 1)), ReadExample(*direct, 50, Rng(1, 1)));
}

// Of the words of (ab|ba)* drawn uniformly nearly none of 40 letters is alive; live ones err about once.
TEST(Automaton, LiveLetters) {
  const auto alive = [](const char* letters) {
    const auto task = MakeTask("regex", {{"regex", "(ab|ba)*"}, {"letters", letters}, {"predict", "state"}});
    int count = 0;
    for (uint64_t i = 0; i < 1000; ++i) {
      const auto targets = ReadExample(*task, 40, Rng(1, i)).targets;
      count += targets.back() != targets[38];  // the dead state is the one that lasts
    }
    return count;
  };
  EXPECT_LT(alive("uniform"), 10);
  EXPECT_NEAR(alive("live"), 780, 60);  // at 20 of the places one letter in 80 errs: (1 - 1/80)^20
}

TEST(Automaton, Errors) {
  const auto message = [](const nlohmann::json& parameters) {
    return MessageOf([&] { MakeTask("regex", parameters); });
  };
  EXPECT_THAT(message({}), HasSubstr("task \"regex\": expected its parameters"));
  EXPECT_EQ(message(nlohmann::json::object()),
            "task \"regex\": parameter \"regex\" is missing: the pattern, such as (ab)*");
  EXPECT_THAT(message({{"regex", "(a"}}), HasSubstr("regex:1:"));
  EXPECT_EQ(message({{"regex", "(a|b)*"}}),
            "task \"regex\": expected an automaton with accepting states and others, got 1 of 1");
  EXPECT_EQ(message({{"regex", "(a|b)*"}, {"predict", "state"}}),
            "task \"regex\": expected an automaton with several states, got one");
  EXPECT_EQ(message({{"regex", "ab"}, {"predict", "stat"}}),
            "task \"regex\": predict: expected \"acceptance\" or \"state\", got \"stat\"");
  EXPECT_THAT(message({{"regex", "ab"}, {"alphabet", "ab\xff"}}), HasSubstr("alphabet: expected letters in UTF-8"));
  EXPECT_EQ(MessageOf([] { MakeTask("dfa", {{"file", "no/such.dfa"}}); }), "no/such.dfa: no such file");
  const TemporaryFile wrong("wrong.dfa", std::string(kThirds) + "r3: r0\n");
  EXPECT_THAT(MessageOf([&] { MakeTask("dfa", {{"file", wrong.path()}}); }), HasSubstr(wrong.path() + ":8:"));
  const TemporaryFile clash("clash.dfa", "letters 0 <accept>\nstart a\naccept a\na: a b\nb: b a\n");
  EXPECT_EQ(MessageOf([&] {
              MakeTask("dfa", {{"file", clash.path()}});
            }),
            "task \"dfa\": the letter <accept> is the name of a target too");
}

TEST(Automaton, AlphabetOfTheLetters) {
  EXPECT_THAT(MakeTask("regex", {{"regex", "(ab)*"}, {"alphabet", "bca"}})->symbols(),
              testing::ElementsAre("b", "c", "a", "<reject>", "<accept>"));
}

}  // namespace
}  // namespace lrnn
