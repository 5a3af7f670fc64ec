#include "lrnn/compile/fuzz.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "lrnn/automata/table.h"

namespace lrnn {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST(Fuzz, AHundredAutomataInEveryMode) {
  const FuzzLimits limits;
  std::map<std::string, int> proved, rounded;
  for (uint64_t index = 0; index < 100; ++index) {
    const Dfa dfa = FuzzDfa(limits, 7, index);
    ASSERT_LE(dfa.num_states, limits.max_states);
    ASSERT_LE(dfa.num_letters(), limits.max_letters);
    for (FuzzTrial& trial : FuzzTrials(dfa, limits, 7, index)) {
      RunFuzzTrial(dfa, limits, 7, index, trial);
      EXPECT_EQ(trial.problem, "") << FuzzReport(dfa, 7, index, trial);
      EXPECT_EQ(trial.words, trial.is_exact ? 8 : 4);
      EXPECT_LE(trial.tokens, trial.words * 500);
      if (trial.is_exact) {
        EXPECT_TRUE(trial.is_proved);
      }
      ++(trial.is_exact ? proved : rounded)[trial.mode];
    }
  }
  for (const char* mode : {"auto", "relax", "sub", "height", "jit"}) EXPECT_EQ(proved[mode] + rounded[mode], 100);
  EXPECT_GE(proved["relax"], 70);
  EXPECT_GE(proved["group"], 3);
  EXPECT_GE(proved["height [0,1]"], 5);
  EXPECT_GE(rounded["rotation"], 1);
}

TEST(Fuzz, TheSameSeedGivesTheSameAutomaton) {
  const FuzzLimits limits;
  EXPECT_EQ(WriteTable(FuzzDfa(limits, 1, 5)), WriteTable(FuzzDfa(limits, 1, 5)));
  EXPECT_NE(WriteTable(FuzzDfa(limits, 1, 5)), WriteTable(FuzzDfa(limits, 1, 6)));
  EXPECT_NE(WriteTable(FuzzDfa(limits, 1, 5)), WriteTable(FuzzDfa(limits, 2, 5)));
}

// Parity of the number of "ab".
Dfa ParityOfAb() { return {4, {"a", "b"}, {{1, 1, 3, 3}, {0, 2, 2, 0}}, 0, {true, true, false, false}}; }

TEST(Fuzz, FaultsAreFound) {
  const FuzzLimits limits;
  FuzzTrial exact;
  exact.is_exact = true;
  exact.options.mode = CompileMode::kRelax;
  const AutomatonNetwork right = Compile(ParityOfAb(), exact.options).network;
  FuzzTrial trial = exact;
  CheckFuzzNetwork(right, limits, 1, 0, trial);
  EXPECT_EQ(trial.problem, "");
  EXPECT_TRUE(trial.is_proved);

  AutomatonNetwork wrong = right;
  std::swap(wrong.first_context[0], wrong.first_context[1]);
  trial = exact;
  CheckFuzzNetwork(wrong, limits, 1, 0, trial);
  EXPECT_THAT(trial.problem, StartsWith("C1 local: first contexts"));

  wrong = right;
  wrong.levels[1].layers[0].beta[0] += wrong.levels[1].layers[0].beta[0] == 0.0f ? 1.0f : -1.0f;
  trial = exact;
  CheckFuzzNetwork(wrong, limits, 1, 0, trial);
  EXPECT_THAT(trial.problem, StartsWith("C2 arithmetic: "));
  EXPECT_FALSE(trial.is_proved);

  // Where no certificate is asked for, the words tell.
  trial = exact;
  trial.is_exact = false;
  CheckFuzzNetwork(wrong, limits, 1, 0, trial);
  EXPECT_THAT(trial.problem, StartsWith("fp32: state "));
}

TEST(Fuzz, WhatCannotBeCompiledIsAProblemToo) {
  FuzzTrial trial;
  trial.options.mode = CompileMode::kGroup;
  RunFuzzTrial(ParityOfAb(), {}, 1, 0, trial);
  EXPECT_THAT(trial.problem, HasSubstr("mode group: letter 'a' does not permute the states"));
}

TEST(Fuzz, AReportCanBeCompiled) {
  FuzzTrial trial;
  trial.options = {.mode = CompileMode::kHeight, .keys = KeyStyle::kDup, .joint = true, .negative_eigenvalues = false};
  trial.problem = "state 3\ninstead of 2";
  const std::string report = FuzzReport(ParityOfAb(), 9, 4711, trial);
  EXPECT_THAT(report, StartsWith("# state 3 instead of 2\n#   lrnn fuzz --seed 9 --first 4711 --count 1\n"));
  EXPECT_THAT(report, HasSubstr("--mode height --keys dup --joint --range 0,1"));
  EXPECT_EQ(ReadTable(report, "report").next, ParityOfAb().next);
}

}  // namespace
}  // namespace lrnn
