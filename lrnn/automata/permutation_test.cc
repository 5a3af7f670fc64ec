#include "lrnn/automata/permutation.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace lrnn {
namespace {

TEST(Permutation, ProductIsTheFirstAfterTheSecond) {
  const Permutation a = {1, 0, 2};
  const Permutation b = {0, 2, 1};
  EXPECT_EQ(Multiply(a, b), (Permutation{1, 2, 0}));
  EXPECT_EQ(Multiply(b, a), (Permutation{2, 0, 1}));
}

TEST(Permutation, InverseUndoes) {
  Permutation p = IdentityPermutation(5);
  do {
    EXPECT_EQ(Multiply(p, Inverse(p)), IdentityPermutation(5));
    EXPECT_EQ(Multiply(Inverse(p), p), IdentityPermutation(5));
  } while (std::next_permutation(p.begin(), p.end()));
}

TEST(Permutation, CountsMovedPointsAndSwaps) {
  EXPECT_EQ(MovedPoints({0, 1, 2}), 0);
  EXPECT_EQ(SwapsNeeded({0, 1, 2}), 0);
  EXPECT_EQ(MovedPoints({1, 0, 3, 4, 2}), 5);
  EXPECT_EQ(SwapsNeeded({1, 0, 3, 4, 2}), 3);
}

TEST(Permutation, IsPermutation) {
  EXPECT_TRUE(IsPermutation(Permutation{2, 0, 1}));
  EXPECT_FALSE(IsPermutation(Permutation{0, 0, 1}));
  EXPECT_FALSE(IsPermutation(Permutation{0, 3, 1}));
  EXPECT_FALSE(IsPermutation(Permutation{0, -1, 1}));
}

TEST(Permutation, CycleNotation) {
  EXPECT_EQ(CycleNotation({0, 1, 2}), "()");
  EXPECT_EQ(CycleNotation({1, 2, 0, 4, 3, 5}), "(0,1,2)(3,4)");
}

}  // namespace
}  // namespace lrnn
