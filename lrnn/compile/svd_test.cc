#include "lrnn/compile/svd.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "lrnn/base/rng.h"

namespace lrnn {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;

void ExpectSvd(const Matrix& A) {
  const int n = A.rows();
  const Svd svd = ComputeSvd(A);
  Matrix scaled = svd.U;
  for (int i = 0; i < n; ++i) {
    EXPECT_GE(svd.sigma[i], 0.0);
    EXPECT_LE(svd.sigma[i], svd.sigma[std::max(i - 1, 0)]);
    for (int l = 0; l < n; ++l) scaled(l, i) *= svd.sigma[i];
  }
  const double tolerance = 1e-14 * n;
  EXPECT_LE((scaled * svd.V.Transposed() - A).MaxAbs(), tolerance * (1.0 + A.MaxAbs()));
  EXPECT_LE((svd.U.Transposed() * svd.U - Matrix::Identity(n)).MaxAbs(), tolerance);
  EXPECT_LE((svd.V.Transposed() * svd.V - Matrix::Identity(n)).MaxAbs(), tolerance);
}

TEST(Svd, KnownValues) {
  EXPECT_THAT(ComputeSvd({{3, 0}, {4, 5}}).sigma,
              ElementsAre(DoubleNear(std::sqrt(45.0), 1e-14), DoubleNear(std::sqrt(5.0), 1e-14)));
  EXPECT_THAT(ComputeSvd({{0, 0}, {0.5, 0}}).sigma, ElementsAre(0.5, 0.0));
  EXPECT_THAT(ComputeSvd({{-2}}).sigma, ElementsAre(2.0));
}

TEST(Svd, RandomMatricesOfEveryRank) {
  Rng rng(1, 0);
  for (const int n : {1, 2, 3, 7, 16, 40}) {
    for (const int rank : {0, 1, n / 2, n}) {
      Matrix left(n, std::max(rank, 1)), right(std::max(rank, 1), n);
      for (Matrix* part : {&left, &right}) {
        for (int i = 0; i < part->rows(); ++i) {
          for (double& entry : part->row(i)) entry = rank == 0 ? 0.0 : rng.Normal();
        }
      }
      SCOPED_TRACE(testing::Message() << "n " << n << ", rank " << rank);
      ExpectSvd(left * right);
      EXPECT_EQ(Rank(left * right, 1e-9), std::min(rank, n));
    }
  }
}

TEST(Svd, ClosestOrthogonal) {
  const Matrix Q = ClosestOrthogonal({{0.1, -1.9}, {2.1, 0.1}});
  EXPECT_LE((Q.Transposed() * Q - Matrix::Identity(2)).MaxAbs(), 1e-15);
  EXPECT_NEAR(Q(1, 0), 1.0, 0.1);
}

}  // namespace
}  // namespace lrnn
