#include "lrnn/compile/periodic_word.h"

#include <gmock/gmock.h>

namespace lrnn {
namespace {

using testing::HasSubstr;

TEST(PeriodicWord, IsFoundWhereThereIsOne) {
  const Dfa parity{2, {"0", "1"}, {{0, 1}, {1, 0}}, 0, {true, false}};
  EXPECT_EQ(Describe(*FindPeriodicWord(parity, {0, 1}), parity), "the word '1' takes state 0 to 1 to 0");
  // (aa)* over {a, b}, where b leads to a sink: only the set of the first two is permuted.
  const Dfa even{3, {"b", "a"}, {{2, 2, 2}, {1, 0, 2}}, 0, {true, false, false}};
  EXPECT_EQ(Describe(*FindPeriodicWord(even, {0, 1}), even), "the word 'a' takes state 0 to 1 to 0");
  EXPECT_EQ(Describe(*FindPeriodicWord(even, {0, 1, 2}), even), "the word 'a' takes state 0 to 1 to 0");
  // A cycle of three that takes two letters.
  const Dfa three{4, {"a", "b"}, {{3, 0, 1, 2}, {3, 1, 2, 0}}, 0, {true, false, false, false}};
  const PeriodicWord found = *FindPeriodicWord(three, {0, 1, 2});
  EXPECT_EQ(three.RunFrom(found.cycle.back(), found.word), found.cycle[0]);
  EXPECT_FALSE(FindPeriodicWord(three, {0, 1, 2}, 1).has_value());
}

TEST(PeriodicWord, IsNotFoundWhereThereIsNone) {
  const Dfa ab_star{3, {"a", "b"}, {{1, 2, 2}, {2, 0, 2}}, 0, {true, false, false}};
  EXPECT_FALSE(FindPeriodicWord(ab_star, {0, 1, 2}).has_value());
  EXPECT_FALSE(FindPeriodicWord(ab_star, {0, 2}).has_value());
  EXPECT_FALSE(FindPeriodicLetter(ab_star).has_value());
}

TEST(PeriodicWord, LettersByThemselves) {
  // 'a' walks 0 -> 1 -> 2 -> 3 -> 1; 'b' has only fixed points at the end of its walks.
  const Dfa tail{4, {"b", "a"}, {{0, 0, 1, 2}, {1, 2, 3, 1}}, 0, {true, false, false, false}};
  EXPECT_EQ(Describe(*FindPeriodicLetter(tail), tail), "the word 'a' takes state 1 to 2 to 3 to 1");
}

TEST(PeriodicWord, IsCutWhereItIsLong) {
  Dfa ring{30, {"turn"}, {{}}, 0, std::vector<bool>(30, true)};
  for (int q = 0; q < 30; ++q) ring.next[0].push_back((q + 1) % 30);
  EXPECT_EQ(Describe(*FindPeriodicLetter(ring), ring),
            "the word 'turn' takes state 0 to 1 to 2 to 3 to 4 to 5 to 6 to 7 to 8 to 9 to 10 to 11 to ... (30 states) "
            "... to 0");
  ring.letters[0] = std::string(100, 'x');
  EXPECT_THAT(Describe(*FindPeriodicLetter(ring), ring), HasSubstr("'" + std::string(60, 'x') + "...' takes state 0"));
  ring.letters[0] = "turn";
  const PeriodicWord word{std::vector<int>(50, 0), {0, 20}};
  EXPECT_THAT(Describe(word, ring), HasSubstr("turn turn... (50 letters)' takes state 0 to 20 to 0"));
}

}  // namespace
}  // namespace lrnn
