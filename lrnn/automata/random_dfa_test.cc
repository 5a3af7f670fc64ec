#include "lrnn/automata/random_dfa.h"

#include <gtest/gtest.h>

#include <map>

#include "lrnn/base/message_of.h"

namespace lrnn {
namespace {

TEST(RandomDfa, IsValidAndRepeats) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    Rng rng(seed, 0), again(seed, 0);
    const Dfa dfa = RandomDfa(rng, 6, 30);
    EXPECT_NO_THROW(Validate(dfa));
    EXPECT_EQ(dfa.next, RandomDfa(again, 6, 30).next);
    EXPECT_EQ(dfa.letters[25], "z");
    EXPECT_EQ(dfa.letters[26], "l26");
  }
}

// There are three accessible tables of two states and one letter with start 0: 0 -> 1, 1 -> 0 or 1, and one of one
// state. By the draw, the first two are equally likely.
TEST(RandomDfa, AccessibleTablesOfOneSizeAreEquallyLikely) {
  std::map<std::vector<int>, int> count;
  Rng rng(1, 0);
  for (int i = 0; i < 4000; ++i) ++count[RandomDfa(rng, 2, 1).next[0]];
  EXPECT_EQ(count.size(), 3u);
  EXPECT_NEAR((count[{1, 0}]), 1000, 130);
  EXPECT_NEAR((count[{1, 1}]), 1000, 130);
  EXPECT_NEAR((count[{0}]), 2000, 160);
}

TEST(RandomDfa, RefusesNothing) {
  Rng rng(1, 0);
  EXPECT_EQ(MessageOf([&] { RandomDfa(rng, 0, 1); }),
            "[random_dfa] expected at least one state and one letter, got 0 and 1");
}

}  // namespace
}  // namespace lrnn
