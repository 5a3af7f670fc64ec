#include "lrnn/report/number_text.h"

#include <gtest/gtest.h>

namespace lrnn {
namespace {

TEST(NumberText, Counts) {
  EXPECT_EQ(CountText(0), "0");
  EXPECT_EQ(CountText(999), "999");
  EXPECT_EQ(CountText(1000), "1,000");
  EXPECT_EQ(CountText(1234567), "1,234,567");
}

TEST(NumberText, Lengths) {
  EXPECT_EQ(LengthsText({40, 256}), "40 to 256");
  EXPECT_EQ(LengthsText({100000, 100000}), "100,000");
}

TEST(NumberText, AccuracyNeverRoundsUpToPerfect) {
  EXPECT_EQ(AccuracyText(1), "1.000");
  EXPECT_EQ(AccuracyText(0.0174), "0.017");
  EXPECT_EQ(AccuracyText(-0.0213), "-0.021");
  EXPECT_EQ(AccuracyText(-0.0001), "0.000");
  EXPECT_EQ(AccuracyText(0.9998), "0.9998");
  EXPECT_EQ(AccuracyText(0.99997), "0.99997");
  EXPECT_EQ(AccuracyText(0.9999999), "0.99999");
}

TEST(NumberText, IntervalsAreRoundedOutwards) {
  EXPECT_EQ(IntervalText(0.99951, 1), "(0.999, 1.000)");
  EXPECT_EQ(IntervalText(-0.0123, 0.0311), "(-0.013, 0.032)");
  EXPECT_EQ(IntervalText(0.25, 0.75), "(0.250, 0.750)");
}

}  // namespace
}  // namespace lrnn
