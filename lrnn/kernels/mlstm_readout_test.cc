#include "lrnn/kernels/mlstm_readout.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "lrnn/kernels/for_each_target.h"
#include "lrnn/kernels/test_values.h"

namespace lrnn::kernels {
namespace {

template <typename T>
class MlstmReadoutTest : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(MlstmReadoutTest, Types);

template <typename T>
struct Problem {
  Problem(int64_t tokens, int64_t heads, int64_t width)
      : shape{tokens, heads, width}, values{Normals<T>(tokens * heads * (width + 1), 0),
                                            Normals<T>(tokens * heads, 1),
                                            Normals<T>(tokens * heads * width, 2),
                                            Normals<T>(tokens * heads * width, 3),
                                            Normals<T>(heads * width, 4),
                                            Normals<T>(heads * width, 5)} {}

  MlstmReadoutInputs<T> in() const {
    return {values[0].data(), values[1].data(), values[2].data(),    values[3].data(),
            values[4].data(), values[5].data(), static_cast<T>(1e-5)};
  }

  MlstmReadoutShape shape;
  std::vector<std::vector<T>> values;  // o, m, x, z, weight, skip
};

// The equations of the header, in double.
std::vector<double> Expected(const MlstmReadoutShape& shape, const std::vector<std::vector<double>>& in) {
  const int64_t H = shape.heads, K = shape.width;
  std::vector<double> y;
  for (int64_t row = 0; row < shape.tokens * H; ++row) {
    const double* o = in[0].data() + row * (K + 1);
    const double denominator = std::max(std::abs(o[K]), std::exp(-in[1][row])) + 1e-6;
    double mean = 0, variance = 0;
    for (int64_t i = 0; i < K; ++i) mean += o[i] / denominator / static_cast<double>(K);
    for (int64_t i = 0; i < K; ++i) variance += std::pow(o[i] / denominator - mean, 2) / static_cast<double>(K);
    for (int64_t i = 0; i < K; ++i) {
      const int64_t unit = row % H * K + i, at = row * K + i;
      const double u = (o[i] / denominator - mean) / std::sqrt(variance + 1e-5), z = in[3][at];
      y.push_back((u * (1 + in[4][unit]) + in[5][unit] * in[2][at]) * z / (1 + std::exp(-z)));
    }
  }
  return y;
}

template <typename T>
std::vector<T> OutputsAndGradients(const Problem<T>& p, int threads) {
  const int64_t I = p.shape.heads * p.shape.width, size = p.shape.tokens * I;
  const auto dy = Normals<T>(size, 6);
  auto y = Poison<T>(size), dx = y, dz = y, d_o = Poison<T>(p.values[0].size()), dweight = Poison<T>(I),
       dskip = dweight;
  MlstmReadout(p.shape, p.in(), y.data(), threads);
  MlstmReadoutBackward(p.shape, p.in(), dy.data(), {d_o.data(), dx.data(), dz.data(), dweight.data(), dskip.data()},
                       threads);
  for (const auto* more : {&d_o, &dx, &dz, &dweight, &dskip}) y.insert(y.end(), more->begin(), more->end());
  return y;
}

TYPED_TEST(MlstmReadoutTest, OutputsAndGradientsAreThoseOfTheEquationsInEveryTarget) {
  using T = TypeParam;
  constexpr double kStep = 1e-6;
  for (const int64_t width : {1, 2, 7, 8, 17, 32, 35}) {
    const Problem<T> p(3, 2, width);
    std::vector<std::vector<double>> in;
    for (const auto& values : p.values) in.emplace_back(values.begin(), values.end());
    const auto dy = Normals<T>(3 * 2 * width, 6);
    std::vector<double> expected = Expected(p.shape, in);
    for (const size_t input : {0, 2, 3, 4, 5}) {
      for (double& number : in[input]) {
        const double before = number;
        number = before + kStep;
        const auto above = Expected(p.shape, in);
        number = before - kStep;
        const auto below = Expected(p.shape, in);
        number = before;
        double gradient = 0;
        for (size_t i = 0; i < above.size(); ++i) gradient += dy[i] * (above[i] - below[i]) / (2 * kStep);
        expected.push_back(gradient);
      }
    }
    const double tolerance = sizeof(T) == 4 ? 2e-4 : 1e-7;
    ForEachTarget([&](const char* target) {
      SCOPED_TRACE(testing::Message() << target << " width " << width);
      const auto got = OutputsAndGradients(p, 1);
      ASSERT_EQ(got.size(), expected.size());
      for (size_t i = 0; i < got.size(); ++i) {
        ASSERT_NEAR(got[i], expected[i], tolerance * std::max(1.0, std::abs(expected[i]))) << i;
      }
    });
  }
}

TYPED_TEST(MlstmReadoutTest, ManyBlocksOfTokensAndAnyThreadCountGiveTheSameBits) {
  const Problem<TypeParam> p(2100, 3, 5);
  const auto one = OutputsAndGradients(p, 1);
  EXPECT_EQ(one, OutputsAndGradients(p, 2));
  EXPECT_EQ(one, OutputsAndGradients(p, 3));
}

TYPED_TEST(MlstmReadoutTest, ExtremeStabilisersAndAnEmptyStateGiveNumbers) {
  using T = TypeParam;
  Problem<T> p(4, 1, 8);
  p.values[1] = {T{-1000}, T{1000}, T{0}, T{-80}};  // exp(-m): infinite, 0, 1, near the end of float
  std::fill_n(p.values[0].begin() + 2 * 9, 9, T{0});
  for (const T number : OutputsAndGradients(p, 1)) ASSERT_TRUE(std::isfinite(number));
}

TEST(MlstmReadout, NoTokensGiveZeroGradientsOfTheWeights) {
  Problem<float> p(0, 1, 2);
  EXPECT_EQ(OutputsAndGradients(p, 2), std::vector<float>(4, 0));
}

}  // namespace
}  // namespace lrnn::kernels
