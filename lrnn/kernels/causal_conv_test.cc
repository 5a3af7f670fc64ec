#include "lrnn/kernels/causal_conv.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "lrnn/kernels/for_each_target.h"
#include "lrnn/kernels/test_values.h"

namespace lrnn::kernels {
namespace {

template <typename T>
class CausalConvTest : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(CausalConvTest, Types);

struct Shape {
  std::vector<int64_t> lengths;
  int64_t D;
  int64_t W;
  bool silu = true;
  bool bias = true;
  bool states = true;  // initial state given, final state and its gradient wanted

  int64_t S() const { return static_cast<int64_t>(lengths.size()); }
  int64_t T() const { return std::accumulate(lengths.begin(), lengths.end(), int64_t{0}); }
};

std::ostream& operator<<(std::ostream& os, const Shape& shape) {
  os << "lengths";
  for (int64_t length : shape.lengths) os << ' ' << length;
  return os << " D " << shape.D << " W " << shape.W << " silu " << shape.silu << " bias " << shape.bias << " states "
            << shape.states;
}

// All that goes in, each array one element off a vector's alignment, x and dy as slices of wider matrices.
template <typename Real>
struct Problem {
  explicit Problem(const Shape& shape)
      : shape(shape),
        x_stride(shape.D + 3),
        dy_stride(shape.D + 5),
        x(Normals<Real>(shape.T() * x_stride + 1, 0)),
        weight(Normals<Real>(shape.D * shape.W + 1, 1)),
        bias(Normals<Real>(shape.D + 1, 2)),
        initial(Normals<Real>(StateSize() + 1, 3)),
        dy(Normals<Real>(shape.T() * dy_stride + 1, 4)),
        dfinal(Normals<Real>(StateSize() + 1, 5)) {
    for (int64_t length : shape.lengths) cu_seqlens.push_back(cu_seqlens.back() + static_cast<int32_t>(length));
  }

  int64_t StateSize() const { return shape.S() * (shape.W - 1) * shape.D; }

  CausalConvInput<Real> Input() const {
    return {.cu_seqlens = cu_seqlens.data(),
            .S = shape.S(),
            .D = shape.D,
            .W = shape.W,
            .x = x.data() + 1,
            .x_stride = x_stride,
            .weight = weight.data() + 1,
            .bias = shape.bias ? bias.data() + 1 : nullptr,
            .initial_state = shape.states ? initial.data() + 1 : nullptr,
            .silu = shape.silu};
  }

  Shape shape;
  int64_t x_stride, dy_stride;
  std::vector<int32_t> cu_seqlens{0};
  std::vector<Real> x, weight, bias, initial, dy, dfinal;
};

// Everything that comes out, in one type for the kernel and the oracle.
template <typename Real>
struct Outputs {
  explicit Outputs(const Shape& shape, Real fill)
      : y(shape.T() * shape.D + 1, fill),
        final_state(shape.S() * (shape.W - 1) * shape.D + 1, fill),
        dx(y.size(), fill),
        dweight(shape.D * shape.W + 1, fill),
        dbias(shape.D + 1, fill),
        dinitial(final_state.size(), fill) {}
  std::vector<Real> y, final_state, dx, dweight, dbias, dinitial;
};

template <typename Real>
Outputs<Real> Run(const Problem<Real>& problem, int threads) {
  const Shape& shape = problem.shape;
  Outputs<Real> out(shape, std::numeric_limits<Real>::quiet_NaN());
  CausalConv(problem.Input(), out.y.data() + 1, shape.states ? out.final_state.data() + 1 : nullptr, threads);
  CausalConvBackward(problem.Input(), problem.dy.data() + 1, problem.dy_stride,
                     shape.states ? problem.dfinal.data() + 1 : nullptr,
                     {.dx = out.dx.data() + 1,
                      .dweight = out.dweight.data() + 1,
                      .dbias = shape.bias ? out.dbias.data() + 1 : nullptr,
                      .dinitial = shape.states ? out.dinitial.data() + 1 : nullptr},
                     threads);
  return out;
}

// The equation, element by element; gradients by the chain rule in the same loop. `size` gets the sums of the absolute
// values of all terms, the scale of the rounding errors.
template <typename Real>
Outputs<double> Oracle(const Problem<Real>& problem, Outputs<double>& size) {
  const Shape& shape = problem.shape;
  const int64_t D = shape.D, W = shape.W;
  Outputs<double> out(shape, 0);
  size = out;
  for (int64_t s = 0; s < shape.S(); ++s) {
    const int64_t begin = problem.cu_seqlens[s], L = shape.lengths[s];
    for (int64_t d = 0; d < D; ++d) {
      // Inputs with their history: position e is token e - (W-1).
      std::vector<double> in(L + W - 1, 0), din(L + W - 1, 0), din_size(L + W - 1, 0);
      for (int64_t e = 0; e < L + W - 1; ++e) {
        if (e >= W - 1) in[e] = problem.x[1 + (begin + e - W + 1) * problem.x_stride + d];
        if (e < W - 1 && shape.states) in[e] = problem.initial[1 + (s * (W - 1) + e) * D + d];
      }
      for (int64_t t = 0; t < L; ++t) {
        double p = shape.bias ? problem.bias[1 + d] : 0, p_size = std::abs(p);
        for (int64_t w = 0; w < W; ++w) {
          p += problem.weight[1 + d * W + w] * in[t + w];
          p_size += std::abs(problem.weight[1 + d * W + w] * in[t + w]);
        }
        const double sigmoid = 1 / (1 + std::exp(-p));
        out.y[1 + (begin + t) * D + d] = shape.silu ? p * sigmoid : p;
        size.y[1 + (begin + t) * D + d] = p_size;
        const double dy = problem.dy[1 + (begin + t) * problem.dy_stride + d];
        const double dp = shape.silu ? dy * sigmoid * (1 + p * (1 - sigmoid)) : dy;
        const double dp_size = std::abs(dy) * (1 + p_size);
        for (int64_t w = 0; w < W; ++w) {
          out.dweight[1 + d * W + w] += dp * in[t + w];
          size.dweight[1 + d * W + w] += dp_size * std::abs(in[t + w]);
          din[t + w] += dp * problem.weight[1 + d * W + w];
          din_size[t + w] += dp_size * std::abs(problem.weight[1 + d * W + w]);
        }
        out.dbias[1 + d] += dp;
        size.dbias[1 + d] += dp_size;
      }
      for (int64_t j = 0; j < W - 1 && shape.states; ++j) {
        const int64_t state = 1 + (s * (W - 1) + j) * D + d;
        out.final_state[state] = in[L + j];
        din[L + j] += problem.dfinal[state];
        din_size[L + j] += std::abs(problem.dfinal[state]);
      }
      for (int64_t e = 0; e < L + W - 1; ++e) {
        const int64_t row = 1 + (begin + e - W + 1) * D + d, state = 1 + (s * (W - 1) + e) * D + d;
        (e < W - 1 ? out.dinitial[state] : out.dx[row]) = din[e];
        (e < W - 1 ? size.dinitial[state] : size.dx[row]) = din_size[e];
      }
    }
  }
  return out;
}

template <typename Real>
void ExpectNear(const char* name, const std::vector<Real>& got, const std::vector<double>& expected,
                const std::vector<double>& size) {
  for (size_t i = 1; i < got.size(); ++i) {
    ASSERT_NEAR(got[i], expected[i], 8 * std::numeric_limits<Real>::epsilon() * (size[i] + 1e-30))
        << name << " element " << i - 1;
  }
}

template <typename Real>
void ExpectOracle(const Shape& shape, int threads = 1) {
  SCOPED_TRACE(shape);
  const Problem<Real> problem(shape);
  Outputs<double> size(shape, 0);
  const auto expected = Oracle(problem, size);
  const auto got = Run(problem, threads);
  ExpectNear("y", got.y, expected.y, size.y);
  ExpectNear("dx", got.dx, expected.dx, size.dx);
  ExpectNear("dweight", got.dweight, expected.dweight, size.dweight);
  if (shape.bias) ExpectNear("dbias", got.dbias, expected.dbias, size.dbias);
  if (shape.states) {
    ExpectNear("final_state", got.final_state, expected.final_state, size.final_state);
    ExpectNear("dinitial", got.dinitial, expected.dinitial, size.dinitial);
  }
}

TYPED_TEST(CausalConvTest, EqualsTheScalarFormInEveryTarget) {
  ForEachTarget([](const char* target) {
    SCOPED_TRACE(target);
    for (int64_t D : {1, 3, 7, 8, 9, 15, 16, 17, 35, 67}) {
      for (int64_t W : {1, 2, 4, 5}) ExpectOracle<TypeParam>({.lengths = {1, 0, 2, 3, 9}, .D = D, .W = W});
    }
  });
}

TYPED_TEST(CausalConvTest, EveryCombinationOfOptions) {
  for (int64_t W : {1, 3, 4}) {
    for (bool silu : {false, true}) {
      for (bool bias : {false, true}) {
        for (bool states : {false, true}) {
          ExpectOracle<TypeParam>(
              {.lengths = {5, 0, 1, 8}, .D = 9, .W = W, .silu = silu, .bias = bias, .states = states});
        }
      }
    }
  }
}

TYPED_TEST(CausalConvTest, SequencesAcrossTiles) {
  // Tiles are 128 rows by 128 channels: ends just before, at and after a tile's edge, one sequence over three tiles.
  ExpectOracle<TypeParam>({.lengths = {126, 1, 1, 127, 2, 300, 0}, .D = 130, .W = 4}, 2);
  ExpectOracle<TypeParam>({.lengths = {129, 254}, .D = 5, .W = 7});
  ExpectOracle<TypeParam>({.lengths = {3, 300}, .D = 2, .W = 140});  // a history longer than a tile
}

TYPED_TEST(CausalConvTest, NothingToDo) {
  ExpectOracle<TypeParam>({.lengths = {}, .D = 3, .W = 4});
  ExpectOracle<TypeParam>({.lengths = {0, 0}, .D = 3, .W = 4});
  ExpectOracle<TypeParam>({.lengths = {0}, .D = 3, .W = 4, .states = false});
}

TYPED_TEST(CausalConvTest, ThreadsDoNotChangeABit) {
  const Problem<TypeParam> problem({.lengths = {700, 3, 40, 1, 500}, .D = 150, .W = 4});
  const auto tail = [](const std::vector<TypeParam>& v) { return std::vector<TypeParam>(v.begin() + 1, v.end()); };
  const auto one = Run(problem, 1);
  for (int threads : {2, 3}) {
    const auto many = Run(problem, threads);
    EXPECT_EQ(tail(one.y), tail(many.y));
    EXPECT_EQ(tail(one.final_state), tail(many.final_state));
    EXPECT_EQ(tail(one.dx), tail(many.dx));
    EXPECT_EQ(tail(one.dweight), tail(many.dweight));
    EXPECT_EQ(tail(one.dbias), tail(many.dbias));
    EXPECT_EQ(tail(one.dinitial), tail(many.dinitial));
  }
}

TYPED_TEST(CausalConvTest, StateInPlaceFollowsAStream) {
  using Real = TypeParam;
  const int64_t D = 11, W = 4, L = 10;
  const Problem<Real> whole({.lengths = {L}, .D = D, .W = W, .states = false});
  const auto expected = Run(whole, 1);
  for (int64_t step : {1, 2, 5}) {  // shorter and longer than the history
    std::vector<Real> state((W - 1) * D, 0);
    auto y = Poison<Real>(L * D);
    const int32_t cu_seqlens[] = {0, static_cast<int32_t>(step)};
    for (int64_t t = 0; t < L; t += step) {
      auto input = whole.Input();
      input.cu_seqlens = cu_seqlens;
      input.x += t * input.x_stride;
      input.initial_state = state.data();
      CausalConv(input, y.data() + t * D, state.data(), 1);
    }
    for (int64_t i = 0; i < L * D; ++i) ASSERT_EQ(y[i], expected.y[1 + i]) << "step " << step << " element " << i;
    for (int64_t j = 0; j < W - 1; ++j) {
      for (int64_t d = 0; d < D; ++d) {
        ASSERT_EQ(state[j * D + d], whole.x[1 + (L - W + 1 + j) * whole.x_stride + d]);
      }
    }
  }
}

TYPED_TEST(CausalConvTest, SiluIsExactFarFromZero) {
  using Real = TypeParam;
  const std::vector<Real> x = {-1e30, -800, -90, -20, -1e-3, 0, 1e-3, 20, 90, 800, 1e30};
  const int32_t cu_seqlens[] = {0, static_cast<int32_t>(x.size())};
  const Real weight[] = {1};
  const std::vector<Real> dy(x.size(), 1);
  ForEachTarget([&](const char* target) {
    SCOPED_TRACE(target);
    const CausalConvInput<Real> input = {
        .cu_seqlens = cu_seqlens, .S = 1, .D = 1, .W = 1, .x = x.data(), .x_stride = 1, .weight = weight};
    auto y = Poison<Real>(x.size()), dx = Poison<Real>(x.size());
    CausalConv(input, y.data(), nullptr, 1);
    CausalConvBackward(input, dy.data(), 1, nullptr, {.dx = dx.data()}, 1);
    for (size_t i = 0; i < x.size(); ++i) {
      const double p = x[i], s = p > 0 ? 1 / (1 + std::exp(-p)) : std::exp(p) / (1 + std::exp(p));
      const double tolerance = 8 * std::numeric_limits<Real>::epsilon();
      const double smallest = 100 * std::numeric_limits<Real>::min();
      EXPECT_NEAR(y[i], p * s, tolerance * std::abs(p * s) + smallest) << p;
      const double rest = p > 0 ? std::exp(-p) / (1 + std::exp(-p)) : 1 - s;
      EXPECT_NEAR(dx[i], s + p * s * rest, tolerance * (s + std::abs(p * s * rest)) + smallest) << p;
    }
  });
}

}  // namespace
}  // namespace lrnn::kernels
