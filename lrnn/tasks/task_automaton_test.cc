// The automata of tasks against the tasks' own targets.
#include "lrnn/tasks/task_automaton.h"

#include <gtest/gtest.h>

#include "lrnn/tasks/registry.h"

namespace lrnn {
namespace {

struct Case {
  std::string name;
  nlohmann::json parameters;
  int states;
};

TEST(TaskAutomaton, ItsAnswersAreTheTargets) {
  const std::vector<Case> cases = {
      {"parity", nlohmann::json::object(), 2},
      {"even_pairs", nlohmann::json::object(), 5},
      {"cycle_navigation", {{"cycle", 6}}, 6},
      {"group", {{"group", "S4"}}, 24},
      {"group", {{"group", "S3"}, {"bos", false}, {"inputs", "generators"}}, 6},
      {"regex", {{"regex", "(a|b)*abb"}}, 4},
      {"regex", {{"regex", "(ab|ba)*"}, {"predict", "state"}, {"letters", "live"}}, 4},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(each.name + " " + each.parameters.dump());
    const auto task = MakeTask(each.name, each.parameters);
    const auto automaton = task->automaton();
    ASSERT_TRUE(automaton);
    EXPECT_NO_THROW(Validate(automaton->dfa));
    EXPECT_EQ(automaton->dfa.num_states, each.states);
    ASSERT_EQ(static_cast<int>(automaton->answers.size()), each.states);
    const auto symbols = task->symbols();
    for (int letter = 0; letter < automaton->dfa.num_letters(); ++letter) {
      EXPECT_EQ(automaton->dfa.letters[letter], symbols[letter]);
    }
    for (uint64_t i = 0; i < 60; ++i) {
      const Example example = ReadExample(*task, 2 + static_cast<int64_t>(i), Rng(7, i));
      int state = automaton->dfa.start;
      for (size_t t = 0; t < example.tokens.size(); ++t) {
        state = automaton->dfa.next.at(example.tokens[t])[state];
        if (symbols[example.tokens[t]] == "<bos>" || example.targets[t] == kNoTarget) continue;
        ASSERT_EQ(example.targets[t], automaton->answers[state]) << "example " << i << ", token " << t;
      }
    }
  }
}

TEST(TaskAutomaton, IsNotThereWhereTheAnswerNeedsMore) {
  EXPECT_FALSE(MakeTask("modular_arithmetic")->automaton());
  EXPECT_FALSE(MakeTask("group", {{"tokens", 4}})->automaton()) << "the answer waits for fillers";
  EXPECT_FALSE(MakeTask("group", {{"group", "S7"}})->automaton()) << "a table of 5040 x 5047 entries";
}

}  // namespace
}  // namespace lrnn
