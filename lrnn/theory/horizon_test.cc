#include "lrnn/theory/horizon.h"

#include <gtest/gtest.h>

#include <cmath>

namespace lrnn {
namespace {

TEST(Horizon, Tokens) {
  EXPECT_NEAR(HorizonTokens(0.5, kNoiseBf16), 8.0, 1e-12);
  EXPECT_NEAR(HorizonTokens(0.5, kNoiseFp32), 24.0, 1e-12);
  EXPECT_NEAR(HorizonTokens(0.999, kNoiseFp32), 16627, 1);
  EXPECT_TRUE(std::isinf(HorizonTokens(1.0, kNoiseFp64)));
  EXPECT_EQ(HorizonTokens(0.0, kNoiseFp64), 0.0);
}

TEST(Horizon, TheLargestEigenvalueThatIsNotPositive) {
  const Transitions transitions{
      {{"layer 1", 1, {}, {{"a", {{0.999, 0}, {0, -0.5}}, {}}, {"b", {{-0.9, 0}, {0, 0.2}}, {}}}},
       {"layer 2", 2, {}, {{"a", {{0.5}}, {}}}},
       {"layer 3", 3, {}, {{"a", {{0, -0.8}, {0.8, 0}}, {}}}}}};
  const auto horizons = Horizons(transitions);
  ASSERT_EQ(horizons.size(), 2);
  EXPECT_EQ(horizons[0].input, "b");
  EXPECT_NEAR(horizons[0].eigenvalue.real(), -0.9, 1e-15);
  EXPECT_EQ(horizons[1].layer, "layer 3");
  EXPECT_NEAR(std::abs(horizons[1].eigenvalue), 0.8, 1e-15);
}

}  // namespace
}  // namespace lrnn
