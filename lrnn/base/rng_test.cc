#include "lrnn/base/rng.h"

#include <gtest/gtest.h>

#include <cmath>
#include <thread>
#include <vector>

#include "lrnn/base/error.h"

namespace lrnn {
namespace {

// The known-answer vectors that come with the authors' Random123 library.
TEST(Philox, KnownAnswers) {
  using Words = std::array<uint32_t, 4>;
  EXPECT_EQ(Philox4x32({0, 0, 0, 0}, {0, 0}), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(Philox4x32({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}), (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(Philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Rng, SameStreamSameNumbersOnAnyThread) {
  const auto draw = [](uint64_t stream) {
    Rng rng(7, stream);
    return std::array{rng.Next64(), rng.Next64(), rng.Next64()};
  };
  const auto expected = draw(3);
  std::array<uint64_t, 3> got{};
  std::thread([&] { got = draw(3); }).join();
  EXPECT_EQ(got, expected);
  EXPECT_NE(draw(4), expected);
  EXPECT_NE(DeriveSeed(7, 0), DeriveSeed(7, 1));
  EXPECT_NE(DeriveSeed(7, 0), DeriveSeed(8, 0));
}

TEST(Rng, BelowIsUniform) {
  Rng rng(1, 0);
  std::vector<int> counts(5);
  constexpr int kDraws = 50000;
  for (int i = 0; i < kDraws; ++i) ++counts[rng.Below(5)];
  double chi_squared = 0;
  for (int count : counts) chi_squared += std::pow(count - kDraws / 5.0, 2) / (kDraws / 5.0);
  EXPECT_LT(chi_squared, 18.5);  // 4 degrees of freedom: exceeded once in 1,000 seeds
}

TEST(Rng, BetweenIncludesBothEnds) {
  Rng rng(1, 1);
  bool low = false, high = false;
  for (int i = 0; i < 1000; ++i) {
    const int64_t x = rng.Between(-3, 4);
    ASSERT_GE(x, -3);
    ASSERT_LE(x, 4);
    low |= x == -3;
    high |= x == 4;
  }
  EXPECT_TRUE(low && high);
  EXPECT_THROW(rng.Between(4, 3), Error);
}

TEST(Rng, MomentsOfUniformAndNormal) {
  Rng rng(2, 0);
  constexpr int kDraws = 100000;
  double uniform = 0, normal = 0, square = 0;
  for (int i = 0; i < kDraws; ++i) {
    uniform += rng.Uniform() / kDraws;
    const double x = rng.Normal();
    normal += x / kDraws;
    square += x * x / kDraws;
  }
  EXPECT_NEAR(uniform, 0.5, 0.005);
  EXPECT_NEAR(normal, 0.0, 0.02);
  EXPECT_NEAR(square, 1.0, 0.03);
}

}  // namespace
}  // namespace lrnn
