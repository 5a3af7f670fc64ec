#include "lrnn/compile/group_layers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lrnn/automata/finite_group.h"
#include "lrnn/automata/groups.h"
#include "lrnn/base/message_of.h"
#include "lrnn/base/rng.h"
#include "lrnn/compile/certify.h"
#include "lrnn/compile/compiler.h"
#include "lrnn/runtime/automaton_stepper.h"

namespace lrnn {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Dfa Cayley(const std::string& name) { return CayleyAutomaton(FiniteGroup(ParseGroup(name))); }

TEST(Groups, AreProved) {
  for (const char* name : {"S3", "S4", "A5", "S5", "Z6", "Z60", "S3xZ2", "Q8", "PSL(2,7)", "D7"}) {
    for (const KeyStyle keys : {KeyStyle::kExact, KeyStyle::kDup}) {
      SCOPED_TRACE(name);
      const Compiled compiled = Compile(Cayley(name), {.keys = keys});
      EXPECT_NO_THROW(Validate(compiled.network, "network"));
      EXPECT_EQ(compiled.network.mode, "group");
      const Certificates c = Certify(compiled.network);
      EXPECT_TRUE(c.local.holds) << c.local.verdict;
      EXPECT_TRUE(c.arithmetic.holds) << c.arithmetic.verdict;
      EXPECT_EQ(c.floats[0].nodes, compiled.network.dfa.num_states);
      EXPECT_THAT(c.ProvedFormats(), ElementsAre("bf16", "fp16", "fp32", "fp64"));
    }
  }
}

TEST(Groups, CountedInFactors) {
  const AutomatonNetwork s5 = Compile(Cayley("S5"), {}).network;
  EXPECT_EQ(s5.levels[0].layers[0].K, 5);
  EXPECT_EQ(s5.levels[0].layers[0].n_h, 4);
  // By the states themselves: 120 coordinates, 96 swaps for the letter of order 5.
  const AutomatonNetwork one_hot = Compile(Cayley("S5"), {.mode = CompileMode::kRelax}).network;
  EXPECT_EQ(one_hot.levels[0].kind, LevelKind::kOneHot);
  EXPECT_EQ(one_hot.levels[0].layers[0].n_h, 96);
  // On 5 points the action on the states is the cheap one: one_hot of 5 labels.
  const AutomatonNetwork on_points = Compile(ActionAutomaton(ParseGroup("S5")), {}).network;
  EXPECT_EQ(Cost(on_points), 5);
}

TEST(Groups, PlantedFaults) {
  const AutomatonNetwork right = Compile(Cayley("S4"), {}).network;
  AutomatonNetwork wrong = right;
  std::swap(wrong.levels[0].codes[1], wrong.levels[0].codes[2]);
  EXPECT_FALSE(Certify(wrong).arithmetic.holds);
  EXPECT_THAT(Certify(wrong).ProvedFormats(), IsEmpty());
  wrong = right;
  std::swap(wrong.levels[0].tables.next[0][0], wrong.levels[0].tables.next[0][1]);
  EXPECT_FALSE(Certify(wrong).local.holds);
  EXPECT_FALSE(Certify(wrong).floats[0].holds);
}

TEST(Groups, ModeGroupWantsPermutations) {
  EXPECT_EQ(MessageOf([] {
              Compile({3, {"a", "b"}, {{1, 2, 0}, {0, 2, 2}}, 0, {true, false, false}}, {.mode = CompileMode::kGroup});
            }),
            "mode group: letter 'b' does not permute the states: it leads from 1 and 2 to 2");
  EXPECT_THAT(MessageOf([] { Compile(Cayley("S4"), {.mode = CompileMode::kGroup, .max_group = 23}); }),
              HasSubstr("the letters generate a group of more than 23 elements: mode jit has no such limit"));
}

TEST(Rotations, TurnThePlane) {
  for (const int m : {2, 3, 12, 60}) {
    const Dfa dfa = Cayley("Z" + std::to_string(m));
    const AutomatonNetwork network = Compile(dfa, {.rotations = true}).network;
    EXPECT_NO_THROW(Validate(network, "network"));
    EXPECT_EQ(network.mode, "rotation");
    EXPECT_EQ(network.levels[0].layers[0].n_h, 2);
    const auto stepper = MakeStepper<float>(network);
    std::vector<float> S(stepper->StateSize());
    Rng rng(m, 0);
    int state = dfa.start;
    for (int t = 0; t < 20000; ++t) {
      const int letter = static_cast<int>(rng.Below(dfa.num_letters()));
      state = dfa.next[letter][state];
      ASSERT_EQ(stepper->Step(letter, S.data()), state) << m << " " << t;
    }
    const Certificates c = Certify(network, {2000, 2000});
    EXPECT_TRUE(c.local.holds);
    EXPECT_THAT(c.arithmetic.verdict, HasSubstr("the weights of a rotation are rounded"));
  }
  EXPECT_THAT(Compile(Cayley("S3"), {.rotations = true}).notes, ElementsAre("the group is not cyclic: no rotations"));
}

}  // namespace
}  // namespace lrnn
