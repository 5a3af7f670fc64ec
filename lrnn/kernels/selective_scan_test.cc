// The kernel against scalar loops in double, in every SIMD target, with rows inside wider arrays and outputs full of
// NaN.
#include "lrnn/kernels/selective_scan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "lrnn/base/rng.h"
#include "lrnn/kernels/for_each_target.h"

namespace lrnn::kernels {
namespace {

struct Shape {
  std::vector<int32_t> cu_seqlens;
  int64_t channels;
  int64_t states;
  bool softplus = true;
  bool extended = false;
  bool all = true;  // D, z, delta_bias, initial and final state
};

// Values of one problem and of its gradients. Rows are 3 elements wider than their contents and arrays start one
// element late, so that nothing is aligned.
template <typename Real>
struct Problem {
  static constexpr int64_t kGap = 3;

  explicit Problem(const Shape& shape, double delta_scale = 1)
      : shape(shape), T(shape.cu_seqlens.back()), D(shape.channels), N(shape.states), S(shape.cu_seqlens.size() - 1) {
    u = Draw(T * (D + kGap), -1, 1);
    delta = Draw(T * (D + kGap), -2 * delta_scale, delta_scale);
    z = Draw(T * (D + kGap), -3, 3);
    A = Draw(D * N, -2, -0.05);
    B = Draw(T * (N + kGap), -1, 1);
    C = Draw(T * (N + kGap), -1, 1);
    D_skip = Draw(D, -1, 1);
    bias = Draw(D, -1, 1);
    initial = Draw(S * D * N, -1, 1);
    dy = Draw(T * (D + kGap), -1, 1);
    dfinal = Draw(S * D * N, -1, 1);
    if (!shape.softplus) {
      for (Real& x : delta) x = std::abs(x) * Real(0.3);
      for (Real& x : bias) x = std::abs(x) * Real(0.1);
    }
    for (auto* v : {&y, &du, &ddelta, &dz}) *v = Nan(T * (D + kGap));
    for (auto* v : {&dB, &dC}) *v = Nan(T * N);
    for (auto* v : {&dD, &dbias}) *v = Nan(D);
    for (auto* v : {&final_state, &dinitial}) *v = Nan(S * D * N);
    dA = Nan(D * N);
    block_states = Nan(SelectiveScanBlockStatesSize(D, N, S, shape.cu_seqlens.data()));
  }

  std::vector<Real> Draw(int64_t size, double low, double high) {
    Rng rng(7, stream++);
    std::vector<Real> values(size + 1);
    for (Real& x : values) x = static_cast<Real>(rng.Uniform(low, high));
    return values;
  }
  static std::vector<Real> Nan(int64_t size) {
    return std::vector<Real>(size + 1, std::numeric_limits<Real>::quiet_NaN());
  }

  SelectiveScanInputs<Real> Inputs() const {
    SelectiveScanInputs<Real> in;
    in.channels = D;
    in.states = N;
    in.sequences = S;
    in.cu_seqlens = shape.cu_seqlens.data();
    in.u = u.data() + 1;
    in.delta = delta.data() + 1;
    in.A = A.data() + 1;
    in.B = B.data() + 1;
    in.C = C.data() + 1;
    in.u_stride = in.delta_stride = in.z_stride = D + kGap;
    in.B_stride = in.C_stride = N + kGap;
    if (shape.all) {
      in.D = D_skip.data() + 1;
      in.z = z.data() + 1;
      in.delta_bias = bias.data() + 1;
      in.initial_state = initial.data() + 1;
    }
    in.delta_softplus = shape.softplus;
    in.allow_neg_eigval = shape.extended;
    return in;
  }

  void Forward(int threads) {
    SelectiveScanOutputs<Real> out;
    out.y = y.data() + 1;
    out.y_stride = D + kGap;
    out.final_state = final_state.data() + 1;
    out.block_states = block_states.data() + 1;
    SelectiveScanForward(Inputs(), out, threads);
  }

  void Backward(int threads) {
    SelectiveScanGradInputs<Real> grad;
    grad.dy = dy.data() + 1;
    grad.dy_stride = D + kGap;
    grad.block_states = block_states.data() + 1;
    if (shape.all) grad.dfinal_state = dfinal.data() + 1;
    SelectiveScanGradOutputs<Real> out;
    out.du = du.data() + 1;
    out.ddelta = ddelta.data() + 1;
    out.dA = dA.data() + 1;
    out.dB = dB.data() + 1;
    out.dC = dC.data() + 1;
    if (shape.all) {
      out.dD = dD.data() + 1;
      out.dz = dz.data() + 1;
      out.ddelta_bias = dbias.data() + 1;
      out.dinitial_state = dinitial.data() + 1;
    }
    SelectiveScanBackward(Inputs(), grad, out, threads);
  }

  Shape shape;
  int64_t T, D, N, S;
  uint64_t stream = 0;
  std::vector<Real> u, delta, z, A, B, C, D_skip, bias, initial, dy, dfinal;
  std::vector<Real> y, final_state, block_states, du, ddelta, dz, dA, dB, dC, dD, dbias, dinitial;
};

// The recurrence and its gradient, one number at a time in double. Arrays are dense, [T, D] and so on.
struct Expected {
  std::vector<double> y, final_state, du, ddelta, dz, dA, dB, dC, dD, dbias, dinitial;

  template <typename Real>
  explicit Expected(const Problem<Real>& p) {
    const SelectiveScanInputs<Real> in = p.Inputs();
    const int64_t T = p.T, D = p.D, N = p.N, S = p.S;
    for (auto* v : {&y, &du, &ddelta, &dz}) v->assign(T * D, 0);
    for (auto* v : {&dB, &dC}) v->assign(T * N, 0);
    for (auto* v : {&dD, &dbias}) v->assign(D, 0);
    for (auto* v : {&final_state, &dinitial}) v->assign(S * D * N, 0);
    dA.assign(D * N, 0);
    for (int64_t s = 0; s < S; ++s) {
      const int64_t begin = in.cu_seqlens[s], length = in.cu_seqlens[s + 1] - begin;
      for (int64_t c = 0; c < D; ++c) {
        std::vector<double> dt(length), slope(length), before_gate(length), gate(length, 1), gate_slope(length);
        std::vector<std::vector<double>> h(length + 1, std::vector<double>(N)), a = h;
        for (int64_t n = 0; n < N; ++n) h[0][n] = in.initial_state ? in.initial_state[(s * D + c) * N + n] : Real(0);
        for (int64_t t = 0; t < length; ++t) {
          const int64_t row = begin + t;
          const double u = in.u[row * in.u_stride + c];
          const double x = double(in.delta[row * in.delta_stride + c]) + (in.delta_bias ? in.delta_bias[c] : Real(0));
          dt[t] = in.delta_softplus ? std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))) : x;
          slope[t] = in.delta_softplus ? 1 / (1 + std::exp(-x)) : 1;
          before_gate[t] = in.D ? in.D[c] * u : 0;
          for (int64_t n = 0; n < N; ++n) {
            const double e = std::exp(dt[t] * in.A[c * N + n]);
            a[t][n] = in.allow_neg_eigval ? 2 * e - 1 : e;
            h[t + 1][n] = a[t][n] * h[t][n] + dt[t] * in.B[row * in.B_stride + n] * u;
            before_gate[t] += in.C[row * in.C_stride + n] * h[t + 1][n];
          }
          if (in.z) {
            const double z = in.z[row * in.z_stride + c], sigmoid = 1 / (1 + std::exp(-z));
            gate[t] = z * sigmoid;
            gate_slope[t] = sigmoid * (1 + z * (1 - sigmoid));
          }
          y[row * D + c] = before_gate[t] * gate[t];
        }
        std::copy(h[length].begin(), h[length].end(), final_state.begin() + (s * D + c) * N);

        std::vector<double> gh(N);
        for (int64_t n = 0; n < N; ++n) gh[n] = p.shape.all ? p.dfinal[1 + (s * D + c) * N + n] : Real(0);
        for (int64_t t = length - 1; t >= 0; --t) {
          const int64_t row = begin + t;
          const double u = in.u[row * in.u_stride + c];
          const double dy = p.dy[1 + row * (D + p.kGap) + c], gy = dy * gate[t];
          dz[row * D + c] = dy * before_gate[t] * gate_slope[t];
          dD[c] += gy * u;
          double du_t = in.D ? gy * in.D[c] : 0, ddt = 0;
          for (int64_t n = 0; n < N; ++n) {
            const double b = in.B[row * in.B_stride + n];
            gh[n] += gy * in.C[row * in.C_stride + n];
            dC[row * N + n] += gy * h[t + 1][n];
            dB[row * N + n] += gh[n] * dt[t] * u;
            du_t += gh[n] * dt[t] * b;
            const double g = gh[n] * h[t][n] * (in.allow_neg_eigval ? a[t][n] + 1 : a[t][n]);
            ddt += gh[n] * b * u + g * in.A[c * N + n];
            dA[c * N + n] += g * dt[t];
            gh[n] *= a[t][n];
          }
          du[row * D + c] = du_t;
          ddelta[row * D + c] = ddt * slope[t];
          dbias[c] += ddt * slope[t];
        }
        std::copy(gh.begin(), gh.end(), dinitial.begin() + (s * D + c) * N);
      }
    }
  }
};

// |got - want| <= factor * epsilon * (largest |want| + 1). Rows of `got` are row_stride apart and start one element
// late.
template <typename Real>
void ExpectNear(const char* name, const std::vector<Real>& got, const std::vector<double>& want, int64_t width,
                int64_t row_stride, double factor) {
  double scale = 1;
  for (double x : want) scale = std::max(scale, std::abs(x));
  const double tolerance = factor * std::numeric_limits<Real>::epsilon() * scale;
  for (size_t i = 0; i < want.size(); ++i) {
    const double x = got[1 + i / width * row_stride + i % width];
    ASSERT_LE(std::abs(x - want[i]), tolerance) << name << "[" << i << "] = " << x << ", expected " << want[i];
    ASSERT_FALSE(std::isnan(x)) << name << "[" << i << "]";
  }
}

template <typename Real>
void TestAgainstLoops(const Shape& shape) {
  Problem<Real> p(shape);
  const Expected want(p);
  p.Forward(2);
  p.Backward(2);
  const int64_t D = p.D, N = p.N;
  const double factor = 20 + 2 * std::sqrt(p.T) + std::sqrt(D);
  ExpectNear("y", p.y, want.y, D, D + p.kGap, factor);
  ExpectNear("final_state", p.final_state, want.final_state, N, N, factor);
  ExpectNear("du", p.du, want.du, D, D, factor);
  ExpectNear("ddelta", p.ddelta, want.ddelta, D, D, factor);
  ExpectNear("dA", p.dA, want.dA, N, N, factor);
  ExpectNear("dB", p.dB, want.dB, N, N, factor);
  ExpectNear("dC", p.dC, want.dC, N, N, factor);
  if (!shape.all) return;
  ExpectNear("dz", p.dz, want.dz, D, D, factor);
  ExpectNear("dD", p.dD, want.dD, D, D, factor);
  ExpectNear("dbias", p.dbias, want.dbias, D, D, factor);
  ExpectNear("dinitial", p.dinitial, want.dinitial, N, N, factor);
}

TEST(SelectiveScan, EqualsScalarLoopsInEveryTarget) {
  ForEachTarget([](const char* target) {
    for (bool extended : {false, true}) {
      for (const Shape& shape : {
               Shape{{0, 1}, 1, 1}, Shape{{0, 3}, 3, 2},
               Shape{{0, 15, 31, 48}, 7, 3},        // one block, one block, one block and one token
               Shape{{0, 0, 5, 5, 70, 70}, 8, 16},  // empty sequences first, in the middle and last
               Shape{{0, 40}, 16, 5, false}, Shape{{0, 33, 34}, 17, 16, true, false, false},
               Shape{{0, 20}, 35, 16, false, false, false},
               Shape{{0, 17, 300, 700}, 131, 4},  // two groups of sequences, three tiles of channels
           }) {
        Shape s = shape;
        s.extended = extended;
        SCOPED_TRACE(std::string(target) + " T=" + std::to_string(s.cu_seqlens.back()) +
                     " D=" + std::to_string(s.channels) + " N=" + std::to_string(s.states));
        TestAgainstLoops<float>(s);
        TestAgainstLoops<double>(s);
        if (testing::Test::HasFatalFailure()) return;
      }
    }
  });
}

TEST(SelectiveScan, NoTokensLeaveTheStateAndZeroGradients) {
  Problem<float> p({{0, 0, 0}, 5, 3});
  p.Forward(1);
  p.Backward(1);
  for (int64_t i = 1; i <= p.S * p.D * p.N; ++i) {
    EXPECT_EQ(p.final_state[i], p.initial[i]);
    EXPECT_EQ(p.dinitial[i], p.dfinal[i]);
  }
  for (int64_t i = 1; i <= p.D * p.N; ++i) EXPECT_EQ(p.dA[i], 0);
  for (int64_t i = 1; i <= p.D; ++i) EXPECT_EQ(p.dD[i], 0);
}

TEST(SelectiveScan, SameBitsForAnyNumberOfThreads) {
  std::vector<int32_t> cu_seqlens{0};
  for (int i = 0; i < 60; ++i) cu_seqlens.push_back(cu_seqlens.back() + 3 + 7 * i % 38);
  for (const auto& sequences : {cu_seqlens, std::vector<int32_t>{0, 300}}) {
    Problem<float> one({sequences, 200, 16, true, true});
    Problem<float> two = one, five = one;
    one.Forward(1);
    one.Backward(1);
    for (auto* p : {&two, &five}) {
      p->Forward(p == &two ? 2 : 5);
      p->Backward(p == &two ? 2 : 5);
      for (auto member : {&Problem<float>::final_state, &Problem<float>::du, &Problem<float>::ddelta,
                          &Problem<float>::dz, &Problem<float>::dA, &Problem<float>::dB, &Problem<float>::dC,
                          &Problem<float>::dD, &Problem<float>::dbias, &Problem<float>::dinitial}) {
        // The element before the first and the tails of du, ddelta and dz stay NaN: compare bytes.
        EXPECT_EQ(std::memcmp((one.*member).data(), (p->*member).data(), (one.*member).size() * sizeof(float)), 0);
      }
      EXPECT_EQ(std::memcmp(one.y.data(), p->y.data(), one.y.size() * sizeof(float)), 0);
    }
  }
}

TEST(SelectiveScan, StateInPlace) {
  Problem<float> p({{0, 20, 21, 21, 70}, 19, 16});
  p.Forward(1);
  std::vector<float> state = p.initial;
  std::vector<float> y = p.y;
  SelectiveScanInputs<float> in = p.Inputs();
  in.initial_state = state.data() + 1;
  SelectiveScanOutputs<float> out;
  out.y = y.data() + 1;
  out.y_stride = p.D + p.kGap;
  out.final_state = state.data() + 1;
  SelectiveScanForward(in, out, 2);
  EXPECT_TRUE(std::equal(state.begin() + 1, state.begin() + 1 + p.S * p.D * p.N, p.final_state.begin() + 1));
  EXPECT_EQ(std::memcmp(y.data(), p.y.data(), y.size() * sizeof(float)), 0);
}

// One channel, one state, one token: y = a h + dt b u with h = c = 1, b = 0 is a itself.
template <typename Real>
Real Transition(double dt, double A, bool extended) {
  const int32_t cu_seqlens[] = {0, 1};
  const Real u = 0, delta = static_cast<Real>(dt), a = static_cast<Real>(A), b = 0, c = 1, h = 1;
  Real y = -7;
  SelectiveScanInputs<Real> in;
  in.channels = in.states = in.sequences = 1;
  in.cu_seqlens = cu_seqlens;
  in.u = &u;
  in.delta = &delta;
  in.A = &a;
  in.B = &b;
  in.C = &c;
  in.initial_state = &h;
  in.delta_softplus = false;
  in.allow_neg_eigval = extended;
  SelectiveScanOutputs<Real> out;
  out.y = &y;
  SelectiveScanForward(in, out, 1);
  return y;
}

template <typename Real>
void TestTransition() {
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(Transition<Real>(0.7, 0, false), 1);
  EXPECT_EQ(Transition<Real>(0.7, 0, true), 1);
  EXPECT_EQ(Transition<Real>(0, -1, false), 1);
  for (double huge : {1e4, 1e9, 1e30}) {
    EXPECT_EQ(Transition<Real>(huge, -1, false), 0) << huge;
    EXPECT_EQ(Transition<Real>(huge, -1, true), -1) << huge;
    EXPECT_EQ(Transition<Real>(huge, 1, false), inf) << huge;  // unstable, but not garbage
    EXPECT_EQ(Transition<Real>(huge, 1, true), inf) << huge;
  }
  const double epsilon = std::numeric_limits<Real>::epsilon();
  for (double x = -86; x < 86; x += 0.0137) {
    const double exact = std::exp(static_cast<double>(static_cast<Real>(x)));
    EXPECT_NEAR(Transition<Real>(1, x, false), exact, (2 + std::abs(x)) * epsilon * exact) << x;
    EXPECT_NEAR(Transition<Real>(1, x, true), 2 * exact - 1, (2 + std::abs(x)) * epsilon * (2 * exact + 1)) << x;
  }
}

// Slow decays are multiplied over many tokens, so errors just below 1 must not have one sign.
template <typename Real>
void TestSlowTransition() {
  double sum = 0;
  int count = 0;
  for (double x = -0.02; x < 0; x += 0.00001, ++count) {
    const double exact = std::exp(static_cast<double>(static_cast<Real>(x)));
    sum += (Transition<Real>(1, x, false) - exact) / exact;
  }
  EXPECT_LE(std::abs(sum / count), 0.05 * std::numeric_limits<Real>::epsilon());
}

TEST(SelectiveScan, TransitionIsAccurateToItsLimits) {
  ForEachTarget([](const char* target) {
    SCOPED_TRACE(target);
    TestTransition<float>();
    TestTransition<double>();
    TestSlowTransition<float>();
    TestSlowTransition<double>();
  });
}

// An extreme rate in one channel sends its neighbours in the vector the way of clamped exponents; their numbers need no
// clamp and stay the same but for rounding.
TEST(SelectiveScan, NeighboursOfAnExtremeRateKeepTheirValues) {
  ForEachTarget([](const char* target) {
    SCOPED_TRACE(target);
    for (bool extended : {false, true}) {
      const Shape shape{.cu_seqlens = {0, 40}, .channels = 8, .states = 3, .extended = extended};
      Problem<float> moderate(shape), extreme(shape);
      extreme.A[1 + 5 * shape.states + 1] = -1e6f;
      for (auto* p : {&moderate, &extreme}) p->Forward(1), p->Backward(1);
      const auto same = [&](auto member, int64_t width, int64_t per_channel) {
        for (int64_t i = 0; i < 40 * width; ++i) {
          const int64_t channel = i % width / per_channel;
          if (channel == 5 || channel >= 8) continue;
          ASSERT_NEAR((moderate.*member)[1 + i], (extreme.*member)[1 + i], 2e-6) << i;
        }
      };
      same(&Problem<float>::y, 8 + Problem<float>::kGap, 1);
      same(&Problem<float>::du, 8, 1);
      same(&Problem<float>::ddelta, 8, 1);
      EXPECT_TRUE(std::isfinite(extreme.y[1 + 5]));
    }
  });
}

// One channel, one token: y = dt b u with b = c = 1 and u = 1 is softplus(delta) itself.
template <typename Real>
Real Softplus(Real delta) {
  const int32_t cu_seqlens[] = {0, 1};
  const Real one = 1, a = -1;
  Real y = -7;
  SelectiveScanInputs<Real> in;
  in.channels = in.states = in.sequences = 1;
  in.cu_seqlens = cu_seqlens;
  in.u = in.B = in.C = &one;
  in.delta = &delta;
  in.A = &a;
  SelectiveScanOutputs<Real> out;
  out.y = &y;
  SelectiveScanForward(in, out, 1);
  return y;
}

template <typename Real>
void TestSoftplus() {
  const double epsilon = std::numeric_limits<Real>::epsilon();
  for (double x = -80; x < 80; x += 0.0171) {
    const double delta = static_cast<Real>(x);
    const double exact = std::max(delta, 0.0) + std::log1p(std::exp(-std::abs(delta)));
    EXPECT_NEAR(Softplus<Real>(delta), exact, 4 * epsilon * exact) << x;
  }
  EXPECT_EQ(Softplus<Real>(Real(1e30)), Real(1e30));
  EXPECT_EQ(Softplus<Real>(Real(-1e30)), 0);
}

TEST(SelectiveScan, SoftplusIsAccurateToItsLimits) {
  ForEachTarget([](const char* target) {
    SCOPED_TRACE(target);
    TestSoftplus<float>();
    TestSoftplus<double>();
  });
}

TEST(SelectiveScan, NanIsHandedOn) {
  ForEachTarget([](const char* target) {
    SCOPED_TRACE(target);
    for (auto member : {&Problem<float>::u, &Problem<float>::delta, &Problem<float>::z, &Problem<float>::B,
                        &Problem<float>::C, &Problem<float>::bias, &Problem<float>::A}) {
      Problem<float> p({{0, 2}, 8, 2});
      (p.*member)[1] = std::numeric_limits<float>::quiet_NaN();
      p.Forward(1);
      EXPECT_FALSE(std::isfinite(p.y[1]));
    }
  });
}

}  // namespace
}  // namespace lrnn::kernels
