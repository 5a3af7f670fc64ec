#include "lrnn/kernels/lstm.h"

#include "lrnn/kernels/test_gated_rnn.h"

namespace lrnn::kernels {
namespace {

struct LstmOracle {
  static constexpr int64_t kStates = 1;

  static double Step(const double* gates, double* c) {
    const auto sigmoid = [](double x) { return 1 / (1 + std::exp(-x)); };
    *c = sigmoid(gates[1]) * *c + sigmoid(gates[0]) * std::tanh(gates[2]);
    return sigmoid(gates[3]) * std::tanh(*c);
  }
};

const auto kForward = [](const auto&... arguments) { LstmForward(arguments...); };
const auto kBackward = [](const auto&... arguments) { LstmBackward(arguments...); };

TEST(Lstm, EqualsTheEquationsAndTheirDifferences) {
  CheckGatedRnnProblems<LstmOracle>(LstmSavedSize, kForward, kBackward);
}

TEST(Lstm, GatesOf80) {
  for (float input : {80.0f, -80.0f, 0.0f}) {
    for (float forget : {80.0f, -80.0f, 0.0f}) {
      for (float value : {80.0f, -80.0f, 0.0f}) {
        for (float output : {80.0f, -80.0f, 0.0f}) {
          const float gates[4] = {input, forget, value, output};
          const GatedRnnRun run = RunEqualTokens(50, gates, 0, LstmSavedSize, kForward, kBackward);
          const double wide[4] = {input, forget, value, output};
          double c = 0;
          for (int64_t t = 0; t < 50; ++t) ASSERT_NEAR(run.y[t * 8], LstmOracle::Step(wide, &c), 1e-6);
          ASSERT_TRUE(AllFinite(run.d_x)) << input << " " << forget << " " << value << " " << output;
        }
      }
    }
  }
}

TEST(Lstm, ZeroInputsGiveZeros) {
  const GatedRnnRun run = RunEqualTokens(10, {0, 0, 0, 0}, 0, LstmSavedSize, kForward, kBackward);
  for (float y : run.y) EXPECT_EQ(y, 0);
  EXPECT_TRUE(AllFinite(run.d_x));
}

// With open gates the cell counts to 100,000.
TEST(Lstm, AHundredThousandEqualTokens) {
  for (float forget : {80.0f, 0.0f, -80.0f}) {
    const GatedRnnRun run = RunEqualTokens(100000, {80, forget, 80, 1}, 0.05f, LstmSavedSize, kForward, kBackward);
    EXPECT_TRUE(AllFinite(run.y) && AllFinite(run.d_x));
    EXPECT_NEAR(run.y.back(), run.y[run.y.size() / 2], 1e-6);
  }
}

TEST(Lstm, ANanIsNotHidden) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const GatedRnnRun run = RunEqualTokens(3, {nan, nan, nan, nan}, 0, LstmSavedSize, kForward, kBackward);
  for (float y : run.y) EXPECT_TRUE(std::isnan(y));
}

}  // namespace
}  // namespace lrnn::kernels
