#include "lrnn/compile/factor.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "lrnn/base/error.h"
#include "lrnn/base/rng.h"
#include "lrnn/compile/svd.h"

namespace lrnn {
namespace {

Matrix RandomMatrix(Rng& rng, int n) {
  Matrix M(n, n);
  for (int i = 0; i < n; ++i) {
    for (double& entry : M.row(i)) entry = rng.Normal();
  }
  return M;
}

// The factors are what they should be and their product is M, to 1e-11.
Factorisation ExpectFactors(const Matrix& M) {
  const Factorisation result = Factor(M);
  EXPECT_LE(result.residual, 1e-11);
  EXPECT_LE((Product(result.factors, M.rows()) - M).MaxAbs(), 1e-11);
  for (const HouseholderMatrix& factor : result.factors) {
    EXPECT_NEAR(Dot(factor.k, factor.k), 1.0, 1e-14);
    EXPECT_GT(factor.beta, 0.0);
    EXPECT_LE(factor.beta, 2.0);
  }
  EXPECT_GE(static_cast<int>(result.factors.size()), result.lower_bound);
  EXPECT_LE(static_cast<int>(result.factors.size()), 2 * M.rows());
  return result;
}

TEST(Factor, OrthogonalMatricesByTheFewestReflections) {
  Rng rng(1, 0);
  for (const int n : {1, 2, 3, 5, 16, 32}) {
    for (int reflections = 0; reflections <= n; ++reflections) {
      // A product of random reflections is of rank(Q - I) = their number.
      std::vector<HouseholderMatrix> made;
      for (int i = 0; i < reflections; ++i) {
        HouseholderMatrix& factor = made.emplace_back();
        factor.beta = 2.0;
        for (int j = 0; j < n; ++j) factor.k.push_back(rng.Normal());
        const double norm = std::sqrt(Dot(factor.k, factor.k));
        for (double& entry : factor.k) entry /= norm;
      }
      const Factorisation result = ExpectFactors(Product(made, n));
      EXPECT_TRUE(result.is_orthogonal);
      EXPECT_EQ(result.factors.size(), made.size());
      EXPECT_EQ(result.lower_bound, reflections);
    }
  }
}

TEST(Factor, PermutationsTakeOneReflectionLessThanACycleHasPoints) {
  Rng rng(2, 0);
  for (int i = 0; i < 30; ++i) {
    const int n = 2 + i;
    std::vector<int> p(n);
    std::iota(p.begin(), p.end(), 0);
    for (int j = n - 1; j > 0; --j) std::swap(p[j], p[rng.Below(j + 1)]);
    Matrix M(n, n);
    int cycles = 0;
    std::vector<bool> seen(n, false);
    for (int j = 0; j < n; ++j) {
      M(p[j], j) = 1.0;
      cycles += !seen[j];
      for (int at = j; !seen[at]; at = p[at]) seen[at] = true;
    }
    EXPECT_EQ(static_cast<int>(ExpectFactors(M).factors.size()), n - cycles);
  }
}

TEST(Factor, RandomContractions) {
  Rng rng(3, 0);
  for (const int n : {1, 2, 5, 16, 40}) {
    Matrix M = RandomMatrix(rng, n);
    const double norm = ComputeSvd(M).sigma[0];
    for (int i = 0; i < n; ++i) {
      for (double& entry : M.row(i)) entry *= 0.9 / norm;
    }
    const Factorisation result = ExpectFactors(M);
    EXPECT_FALSE(result.is_orthogonal);
    EXPECT_NEAR(result.norm, 0.9, 1e-12);
    EXPECT_EQ(result.lower_bound, n);
    EXPECT_GE(static_cast<int>(result.factors.size()), 2 * n - 1);
  }
}

// What has a kernel: the orthogonal part closes every path.
TEST(Factor, KernelsSaveReflections) {
  EXPECT_EQ(ExpectFactors(Matrix(5, 5)).factors.size(), 5);
  EXPECT_EQ(ExpectFactors({{0, 0}, {1, 0}}).factors.size(), 2);
  EXPECT_EQ(ExpectFactors({{1, 0}, {0, 0}}).factors.size(), 1);
  for (const int n : {2, 4, 7}) {
    Matrix shift(2 * n, 2 * n);  // [[0, 0], [I, 0]]
    for (int i = 0; i < n; ++i) shift(n + i, i) = 1.0;
    const Factorisation result = ExpectFactors(shift);
    EXPECT_EQ(static_cast<int>(result.factors.size()), 2 * n);
    EXPECT_EQ(result.lower_bound, 2 * n);
  }
  // 0/1 partial permutations: paths and cycles. One factor for each point of a path, for a cycle one less.
  Rng rng(4, 0);
  for (int i = 0; i < 40; ++i) {
    const int n = 2 + i % 12;
    std::vector<int> p(n);
    std::iota(p.begin(), p.end(), 0);
    for (int j = n - 1; j > 0; --j) std::swap(p[j], p[rng.Below(j + 1)]);
    Matrix M(n, n);
    for (int j = 0; j < n; ++j) M(p[j], j) = rng.Below(3) > 0 ? 1.0 : 0.0;
    const Factorisation result = ExpectFactors(M);
    EXPECT_EQ(static_cast<int>(result.factors.size()), result.lower_bound);
  }
  // In any basis.
  for (int i = 0; i < 20; ++i) {
    const int n = 3 + i % 6;
    const Matrix U = ClosestOrthogonal(RandomMatrix(rng, n)), V = ClosestOrthogonal(RandomMatrix(rng, n));
    Matrix cut = Matrix::Identity(n);
    for (int j = 0; j <= i % (n - 1); ++j) cut(j, j) = 0.0;
    const Factorisation result = ExpectFactors(U * cut * V);
    EXPECT_EQ(static_cast<int>(result.factors.size()), result.lower_bound);
  }
}

// Numbers as people write them: six digits.
TEST(Factor, RoundedInput) {
  const Factorisation result = Factor({{0.707107, -0.707107}, {0.707107, 0.707107}});
  EXPECT_TRUE(result.is_orthogonal);
  EXPECT_EQ(result.factors.size(), 2);
  EXPECT_LE(result.residual, 1e-6);
  EXPECT_FALSE(Factor({{0.5}}, 1e-3).is_orthogonal);
}

std::string ErrorOf(const Matrix& M) {
  try {
    Factor(M);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Factor, Refuses) {
  EXPECT_THAT(ErrorOf({{1, 1}, {0, 1}}), testing::HasSubstr("expected a contraction, got a matrix of norm 1.61803399"));
  EXPECT_EQ(ErrorOf({{1, 0, 0}, {0, 1, 0}}), "[Factor] expected a square matrix, got 2 rows and 3 columns");
  EXPECT_EQ(ErrorOf(Matrix()), "[Factor] expected a matrix, got none");
  EXPECT_EQ(ErrorOf({{1, 0}, {0, std::nan("")}}), "[Factor] expected finite entries, got nan in row 2, column 2");
}

}  // namespace
}  // namespace lrnn
