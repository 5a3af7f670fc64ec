#include "lrnn/automata/dfa.h"

#include <gtest/gtest.h>

#include "lrnn/base/message_of.h"

namespace lrnn {
namespace {

Dfa Parity() { return {2, {"0", "1"}, {{0, 1}, {1, 0}}, 0, {true, false}}; }

TEST(Dfa, RunsWordsFromLeftToRight) {
  const Dfa parity = Parity();
  EXPECT_EQ(parity.Run(std::vector<int>{1, 0, 1, 1}), 1);
  EXPECT_TRUE(parity.Accepts(std::vector<int>{}));
  EXPECT_FALSE(parity.Accepts(std::vector<int>{1}));
}

TEST(Dfa, ValidateNamesWhatIsWrong) {
  EXPECT_NO_THROW(Validate(Parity()));
  Dfa wrong = Parity();
  wrong.next[1][0] = 2;
  EXPECT_EQ(MessageOf([&] { Validate(wrong); }),
            "[automaton] letter '1' leads from state 0 to 2, which is not among the 2 states");
  wrong = Parity();
  wrong.letters[1] = "0";
  EXPECT_EQ(MessageOf([&] { Validate(wrong); }), "[automaton] letter '0' is named twice");
  wrong = Parity();
  wrong.start = 2;
  EXPECT_EQ(MessageOf([&] { Validate(wrong); }), "[automaton] the start state 2 is not among the 2 states");
  wrong = Parity();
  wrong.letters.clear();
  EXPECT_EQ(MessageOf([&] { Validate(wrong); }), "[automaton] expected at least one letter");
}

}  // namespace
}  // namespace lrnn
