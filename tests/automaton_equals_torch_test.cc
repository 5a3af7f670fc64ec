// The torch form of a compiled automaton decodes the states of the automaton from the layers of trained models.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lrnn/base/message_of.h"
#include "lrnn/base/rng.h"
#include "lrnn/compile/fuzz.h"
#include "lrnn/io/test_directory.h"
#include "lrnn/models/automaton_module.h"
#include "lrnn/runtime/automaton_files.h"

namespace lrnn {
namespace {

using testing::HasSubstr;

struct Words {
  std::vector<int64_t> letters, states;
  std::vector<int64_t> lengths{17, 1, 60};
};

Words RandomWords(const Dfa& dfa, Rng rng) {
  Words words;
  for (const int64_t length : words.lengths) {
    int state = dfa.start;
    for (int64_t t = 0; t < length; ++t) {
      words.letters.push_back(rng.Below(static_cast<uint32_t>(dfa.num_letters())));
      state = dfa.next[words.letters.back()][state];
      words.states.push_back(state);
    }
  }
  return words;
}

TEST(AutomatonModule, EqualsTheAutomaton) {
  const FuzzLimits limits;
  std::map<LevelKind, int> kinds;
  for (uint64_t index = 0; index < 40; ++index) {
    const Dfa dfa = FuzzDfa(limits, 5, index);
    const Words words = RandomWords(dfa, Rng(5, index));
    const torch::Tensor letters = torch::tensor(words.letters, torch::kInt64);
    const ops::Sequences sequences = ops::Sequences::FromLengths(words.lengths);
    for (const FuzzTrial& trial : FuzzTrials(dfa, limits, 5, index)) {
      AutomatonNetwork network = Compile(dfa, trial.options).network;
      if (network.is_jit()) continue;
      SCOPED_TRACE(FuzzReport(dfa, 5, index, trial));
      for (const AutomatonLevel& level : network.levels) ++kinds[level.kind];
      const torch::Tensor expected = torch::tensor(words.states, torch::kInt64);
      AutomatonModule module(network);
      EXPECT_TRUE(torch::equal(module->States(letters, sequences), expected));
      const torch::Tensor logits = module->forward(letters, sequences);
      ASSERT_EQ(logits.sizes(), (std::vector<int64_t>{letters.size(0), 2}));
      for (int64_t t = 0; t < letters.size(0); ++t) {
        ASSERT_EQ(logits.argmax(1)[t].item<int64_t>(), dfa.accepting[words.states[t]]);
      }
      network.outputs_states = true;
      EXPECT_TRUE(torch::equal(AutomatonModule(network)->forward(letters, sequences).argmax(1), expected));
    }
  }
  for (const LevelKind kind : {LevelKind::kFixed, LevelKind::kSlot, LevelKind::kSign, LevelKind::kOneHot,
                               LevelKind::kPermutedSlot, LevelKind::kJoint, LevelKind::kPoints, LevelKind::kRotation}) {
    EXPECT_GT(kinds[kind], 0) << Name(kind);
  }
}

TEST(AutomatonModule, LoadsAModelDirectory) {
  const Dfa parity{2, {"0", "1"}, {{0, 1}, {1, 0}}, 0, {false, true}};
  const TestDirectory directory;
  WriteAutomaton(directory.path(), Compile(parity, {}).network);
  AutomatonModule module = LoadAutomatonModule(directory.path());
  const torch::Tensor letters = torch::tensor({1, 0, 1, 1}, torch::kInt64);
  const torch::Tensor logits = module->forward(letters, ops::Sequences::Single(4));
  EXPECT_TRUE(torch::equal(logits.argmax(1), torch::tensor({1, 1, 0, 1}, torch::kInt64)));
  EXPECT_TRUE(module->parameters().empty());
}

TEST(AutomatonModule, WhatIsWrongIsSaid) {
  const Dfa parity{2, {"0", "1"}, {{0, 1}, {1, 0}}, 0, {false, true}};
  EXPECT_THAT(MessageOf([&] { AutomatonModule(Compile(parity, {.mode = CompileMode::kJit}).network); }),
              HasSubstr("expected a network with tables, got mode jit"));
  AutomatonModule module(Compile(parity, {}).network);
  const auto message = [&](const torch::Tensor& letters, int64_t tokens) {
    return MessageOf([&] { module->forward(letters, ops::Sequences::Single(tokens)); });
  };
  EXPECT_THAT(message(torch::tensor({0, 2}, torch::kInt64), 2), HasSubstr("expected letters in 0 .. 1, got 2"));
  EXPECT_THAT(message(torch::tensor({0, -1}, torch::kInt64), 2), HasSubstr("expected letters in 0 .. 1, got -1"));
  EXPECT_THAT(message(torch::tensor({0, 1}, torch::kInt64), 3), HasSubstr("expected 3 letters, got 2"));
}

}  // namespace
}  // namespace lrnn
