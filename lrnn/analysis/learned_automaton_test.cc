#include "lrnn/analysis/learned_automaton.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lrnn/base/message_of.h"
#include "lrnn/io/test_directory.h"
#include "lrnn/runtime/test_parity_model.h"
#include "lrnn/tasks/parity.h"

namespace lrnn {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class LearnAutomatonTest : public testing::Test {
 protected:
  LearnedAutomaton Learn(const TestModel& model, const TokenAutomaton& truth, const LearnOptions& options = {}) {
    model.Write(directory_.path());
    return LearnAutomaton(RuntimeModel::Load(directory_.path()), Parity(), truth, options);
  }

  TestDirectory directory_;
};

TEST_F(LearnAutomatonTest, ReadsParity) {
  const LearnedAutomaton learned = Learn(ParityModel(), ParityTruth());
  EXPECT_FALSE(learned.difference);
  EXPECT_EQ(learned.automaton.dfa.num_states, 2);
  EXPECT_EQ(learned.automaton.dfa.next, ParityTruth().dfa.next);
  EXPECT_THAT(learned.automaton.dfa.accepting, ElementsAre(false, true));
  EXPECT_THAT(learned.suffixes, ElementsAre(IsEmpty()));
  EXPECT_EQ(learned.clusters, 3) << "even, odd, and before the first letter";
  for (const auto& row : learned.votes) {
    for (const Votes& votes : row) {
      EXPECT_GE(votes.cast, 8);
      EXPECT_EQ(votes.agreeing, votes.cast);
    }
  }
  EXPECT_EQ(learned.blurred_at, 0);
  std::vector<int64_t> letters;
  for (const ClusterCheck& check : learned.checks) {
    letters.push_back(check.letters);
    EXPECT_EQ(check.follows, 1);
    EXPECT_EQ(check.right, 1);
    EXPECT_EQ(check.nearest, 1);
    EXPECT_GT(check.probability, 0.5);
  }
  EXPECT_THAT(letters, ElementsAre(80, 160, 320, 640, 1280));
}

TEST_F(LearnAutomatonTest, SaysWhereAForgetfulModelBlurs) {
  // Eigenvalue -0.9993: after some hundreds of ones the two states have come together.
  const LearnedAutomaton learned = Learn(ParityModel(8), ParityTruth());
  EXPECT_FALSE(learned.difference) << "after short words it is parity all the same";
  EXPECT_GE(learned.blurred_at, 160);
  EXPECT_LE(learned.blurred_at, 1280);
  EXPECT_LT(learned.checks.back().right, 0.9);
}

TEST_F(LearnAutomatonTest, AWrongModel) {
  TestModel model = ParityModel();  // the letter 0 flips too: it counts all letters
  model.tensors["model.layers.0.attn.b_proj.weight"].values[1] = 100;
  model.tensors["model.layers.0.attn.v_proj.weight"].values[1] = 1;
  const LearnedAutomaton learned = Learn(model, ParityTruth());
  ASSERT_TRUE(learned.difference);
  EXPECT_THAT(learned.difference->word, ElementsAre(0));
  EXPECT_EQ(learned.difference->first, 2);
  EXPECT_EQ(learned.difference->second, 1);
  EXPECT_EQ(learned.model_answer, 2) << "the model is wrong, not the extraction";
}

TEST_F(LearnAutomatonTest, AfterWordsThatAreTooLongTheExtractionIsWrong) {
  const LearnedAutomaton learned =
      Learn(ParityModel(8), ParityTruth(), {.lengths = {6000, 6000}, .words = 16, .longest = 6000});
  ASSERT_TRUE(learned.difference);
  EXPECT_EQ(learned.model_answer, learned.difference->second) << "the model answers the short word right";
}

// Answers 1 only when the number of ones is odd and the last letter is 0: what tells "even" from "odd, after a 1" comes
// a letter later.
TEST_F(LearnAutomatonTest, SplitsStatesByTheirFuture) {
  TestModel model = ParityModel();
  model.tensors["lm_head.weight"].values = {-9, -9, -9, -9, 0, 0, 0, 0, 0, -1, -3, 1};
  const TokenAutomaton truth{{3, {"0", "1"}, {{0, 2, 2}, {1, 0, 0}}, 0, {false, false, true}}, {}, {1, 2}, {1, 1, 2}};
  const LearnedAutomaton learned = Learn(model, truth);
  EXPECT_FALSE(learned.difference);
  EXPECT_EQ(learned.automaton.dfa.num_states, 3);
  EXPECT_THAT(learned.suffixes, ElementsAre(IsEmpty(), ElementsAre(0)));
}

TEST_F(LearnAutomatonTest, NoSmallAutomaton) {
  EXPECT_THAT(MessageOf([&] { Learn(ParityModel(), ParityTruth(), {.max_clusters = 2}); }),
              HasSubstr("more than 2 clusters after words of 41:80 letters"));
  EXPECT_THAT(MessageOf([&] {
                Learn(ParityModel(), ParityTruth(), {.lengths = {3, 2}});
              }),
              HasSubstr("expected lengths from 1 on, got 3:2"));
}

}  // namespace
}  // namespace lrnn
