#include "lrnn/kernels/slstm.h"

#include "lrnn/kernels/test_gated_rnn.h"

namespace lrnn::kernels {
namespace {

struct SlstmOracle {
  static constexpr int64_t kStates = 3;

  static double Step(const double* gates, double* state) {
    double &c = state[0], &n = state[1], &m = state[2];
    const double kept = m - std::log1p(std::exp(-gates[1]));  // log sigmoid(f~) + m
    const double larger = n == 0 ? gates[0] : std::max(gates[0], kept);
    const double i = std::exp(gates[0] - larger), f = n == 0 ? 0 : std::exp(kept - larger);
    c = f * c + i * std::tanh(gates[2]);
    n = f * n + i;
    m = larger;
    return c / n / (1 + std::exp(-gates[3]));
  }
};

const auto kForward = [](const auto&... arguments) { SlstmForward(arguments...); };
const auto kBackward = [](const auto&... arguments) { SlstmBackward(arguments...); };

TEST(Slstm, EqualsTheEquationsAndTheirDifferences) {
  CheckGatedRnnProblems<SlstmOracle>(SlstmSavedSize, kForward, kBackward);
}

// y = sigmoid(o~) times the average of tanh(z~), each weighed by its gates: equal tokens give the same y at all times.
TEST(Slstm, GatesOf80) {
  for (float input : {80.0f, -80.0f, 0.0f}) {
    for (float forget : {80.0f, -80.0f, 0.0f}) {
      for (float value : {80.0f, -80.0f, 0.0f}) {
        for (float output : {80.0f, -80.0f, 0.0f}) {
          const GatedRnnRun run =
              RunEqualTokens(50, {input, forget, value, output}, 0, SlstmSavedSize, kForward, kBackward);
          for (float y : run.y) ASSERT_NEAR(y, std::tanh(value) / (1 + std::exp(-output)), 1e-6);
          ASSERT_TRUE(AllFinite(run.d_x)) << input << " " << forget << " " << value << " " << output;
        }
      }
    }
  }
}

// Gates that jump between 80 and -80 from token to token, against the equations without a stabiliser in double, whose
// exponents are small enough for that.
TEST(Slstm, GatesThatJump) {
  const GatedRnnProblem p{{0, 40}, 1, 8, false};
  Rng rng(4, 0);
  std::vector<double> c(8), n(8);
  std::vector<float> x(40 * 32);
  for (float& value : x) value = rng.Uniform(0, 1) < 0.5 ? -80 : 80;
  std::vector<float> R(8 * 4 * 8), y(40 * 8), bias(32), saved(SlstmSavedSize(p.Shape())), d_y(y.size(), 1),
      d_x(x.size());
  const GatedRnnInputs<float> in{x.data(), 32, 32, R.data(), nullptr, nullptr};
  SlstmForward(p.Shape(), in, GatedRnnOutputs<float>{y.data(), nullptr, saved.data()}, 1);
  SlstmBackward(p.Shape(), in, saved.data(), d_y.data(), nullptr,
                GatedRnnGradients<float>{d_x.data(), 32, 32, bias.data(), nullptr}, 1);
  EXPECT_TRUE(AllFinite(d_x));
  for (int64_t t = 0; t < 40; ++t) {
    for (int64_t u = 0; u < 8; ++u) {
      const float* gates = &x[t * 32 + u];
      const double f = 1 / (1 + std::exp(-double{gates[8]})), i = std::exp(double{gates[0]});
      c[u] = f * c[u] + i * std::tanh(double{gates[16]});
      n[u] = f * n[u] + i;
      ASSERT_NEAR(y[t * 8 + u], c[u] / n[u] / (1 + std::exp(-double{gates[24]})), 1e-6)
          << "token " << t << " unit " << u;
    }
  }
}

TEST(Slstm, ZeroInputsGiveZeros) {
  const GatedRnnRun run = RunEqualTokens(10, {0, 0, 0, 0}, 0, SlstmSavedSize, kForward, kBackward);
  for (float y : run.y) EXPECT_EQ(y, 0);
  EXPECT_TRUE(AllFinite(run.d_x));
}

// The normaliser counts up to 100,000 or stays near 1; the outputs settle and nothing else happens.
TEST(Slstm, AHundredThousandEqualTokens) {
  for (float forget : {80.0f, 0.0f, -80.0f}) {
    const GatedRnnRun run = RunEqualTokens(100000, {1, forget, 0.5f, 1}, 0.05f, SlstmSavedSize, kForward, kBackward);
    EXPECT_TRUE(AllFinite(run.y) && AllFinite(run.d_x));
    EXPECT_NEAR(run.y.back(), run.y[run.y.size() / 2], 1e-3);
  }
}

// A row of zeros in a given state is a sequence that saw nothing, whatever the others saw.
TEST(Slstm, AStateOfZerosIsNone) {
  const GatedRnnProblem none{{0, 4}, 2, 5, false};
  const GatedRnnTensors t = RandomGatedRnn(none, SlstmOracle::kStates, 1);
  std::vector<double> zeros(kSlstmStates * 10), y(40), expected(40);
  GatedRnnInputs<double> in{t.x.data(), 40, 20, t.R.data(), t.bias.data(), nullptr};
  SlstmForward(none.Shape(), in, GatedRnnOutputs<double>{expected.data(), nullptr, nullptr}, 1);
  in.initial_state = zeros.data();
  SlstmForward(none.Shape(), in, GatedRnnOutputs<double>{y.data(), nullptr, nullptr}, 1);
  EXPECT_EQ(y, expected);
}

TEST(Slstm, StateMayBeUpdatedInPlace) {
  const GatedRnnProblem p{{0, 1, 6}, 2, 5, true};
  GatedRnnTensors want = RandomGatedRnn(p, SlstmOracle::kStates, 2);
  RunGatedRnnOracle<SlstmOracle>(p, want);
  Array state = want.initial, y(want.y.size());
  SlstmForward(p.Shape(), GatedRnnInputs<double>{want.x.data(), 40, 20, want.R.data(), want.bias.data(), state.data()},
               GatedRnnOutputs<double>{y.data(), state.data(), nullptr}, 1);
  for (size_t i = 0; i < state.size(); ++i) ASSERT_NEAR(state[i], want.final[i], 1e-12);
  for (size_t i = 0; i < y.size(); ++i) ASSERT_NEAR(y[i], want.y[i], 1e-12);
}

TEST(Slstm, ANanIsNotHidden) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const GatedRnnRun run = RunEqualTokens(3, {nan, nan, nan, nan}, 0, SlstmSavedSize, kForward, kBackward);
  for (float y : run.y) EXPECT_TRUE(std::isnan(y));
}

}  // namespace
}  // namespace lrnn::kernels
