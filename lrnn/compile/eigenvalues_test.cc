#include "lrnn/compile/eigenvalues.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "lrnn/base/rng.h"
#include "lrnn/compile/svd.h"

namespace lrnn {
namespace {

using Complex = std::complex<double>;

void ExpectNear(const std::vector<Complex>& values, const std::vector<Complex>& wanted, double tolerance) {
  ASSERT_EQ(values.size(), wanted.size());
  std::vector<bool> used(wanted.size(), false);
  for (const Complex value : values) {
    bool found = false;
    for (size_t i = 0; i < wanted.size() && !found; ++i) {
      if (used[i] || std::abs(value - wanted[i]) > tolerance) continue;
      used[i] = found = true;
    }
    EXPECT_TRUE(found) << value;
  }
}

TEST(Eigenvalues, KnownValues) {
  ExpectNear(Eigenvalues({{-1}}), {-1.0}, 0);
  ExpectNear(Eigenvalues({{0, 1}, {1, 0}}), {1.0, -1.0}, 1e-15);
  ExpectNear(Eigenvalues({{0, -1}, {1, 0}}), {Complex(0, 1), Complex(0, -1)}, 1e-15);
  ExpectNear(Eigenvalues({{2, 5, 1}, {0, 3, 7}, {0, 0, -4}}), {2.0, 3.0, -4.0}, 1e-14);
  ExpectNear(Eigenvalues({{0, 0}, {0.5, 0}}), {0.0, 0.0}, 1e-15);
  ExpectNear(Eigenvalues(Matrix(3, 3)), {0.0, 0.0, 0.0}, 0);
}

TEST(Eigenvalues, ACycleHasTheRootsOfUnity) {
  for (const int n : {2, 3, 8, 31}) {
    Matrix cycle(n, n);
    std::vector<Complex> roots;
    for (int i = 0; i < n; ++i) {
      cycle((i + 1) % n, i) = 1.0;
      roots.push_back(std::polar(1.0, 2.0 * std::numbers::pi * i / n));
    }
    ExpectNear(Eigenvalues(cycle), roots, 1e-13);
  }
}

// Three factors with eigenvalues in [0, 1], keys at 0, 60 and 120 degrees, beta = 3/4: the product's are not real.
TEST(Eigenvalues, ProductOfThreeFactors) {
  Matrix product = Matrix::Identity(2);
  for (const double degrees : {0.0, 60.0, 120.0}) {
    const double x = std::cos(degrees * std::numbers::pi / 180), y = std::sin(degrees * std::numbers::pi / 180);
    product = product * Matrix{{1 - 0.75 * x * x, -0.75 * x * y}, {-0.75 * x * y, 1 - 0.75 * y * y}};
  }
  ExpectNear(Eigenvalues(product), {Complex(0.1123, 0.0549), Complex(0.1123, -0.0549)}, 1e-4);
}

TEST(Eigenvalues, RandomMatrices) {
  Rng rng(1, 0);
  for (const int n : {2, 3, 5, 16}) {
    Matrix A(n, n);
    for (int i = 0; i < n; ++i) {
      for (double& entry : A.row(i)) entry = rng.Normal();
    }
    const std::vector<Complex> values = Eigenvalues(A);
    Complex sum = 0.0;
    double trace = 0.0;
    for (int i = 0; i < n; ++i) {
      sum += values[i];
      trace += A(i, i);
      EXPECT_LE(std::abs(values[i]), std::abs(values[std::max(i - 1, 0)]) + 1e-9);
      // |A - lambda| is singular: as a real matrix [[A - x, y], [-y, A - x]].
      Matrix shifted(2 * n, 2 * n);
      for (int row = 0; row < n; ++row) {
        for (int column = 0; column < n; ++column) {
          const double entry = A(row, column) - (row == column ? values[i].real() : 0.0);
          shifted(row, column) = shifted(n + row, n + column) = entry;
        }
        shifted(row, n + row) = values[i].imag();
        shifted(n + row, row) = -values[i].imag();
      }
      EXPECT_LE(ComputeSvd(shifted).sigma.back(), 1e-12);
    }
    EXPECT_NEAR(sum.real(), trace, 1e-11);
    EXPECT_NEAR(sum.imag(), 0.0, 1e-11);
  }
}

TEST(Eigenvalues, Text) {
  EXPECT_EQ(EigenvalueText(-1.0), "-1");
  EXPECT_EQ(EigenvalueText({0.5, -std::sqrt(0.75)}), "0.5-0.866025i");
  EXPECT_EQ(EigenvalueText({-1e-17, 1.0}), "0+1i");
}

}  // namespace
}  // namespace lrnn
