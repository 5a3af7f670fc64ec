#include "lrnn/compile/factor.h"

#include <algorithm>
#include <cmath>

#include "lrnn/base/error.h"
#include "lrnn/compile/svd.h"

namespace lrnn {
namespace {

// A <- (I - beta k k^T) A
void Apply(const HouseholderMatrix& factor, Matrix& A) {
  std::vector<double> row(A.cols(), 0.0);  // k^T A
  for (int i = 0; i < A.rows(); ++i) {
    for (int j = 0; j < A.cols(); ++j) row[j] += factor.k[i] * A(i, j);
  }
  for (int i = 0; i < A.rows(); ++i) {
    for (int j = 0; j < A.cols(); ++j) A(i, j) -= factor.beta * factor.k[i] * row[j];
  }
}

void AddReflections(Matrix Q, double tolerance, std::vector<HouseholderMatrix>& factors) {
  const int n = Q.rows();
  for (int round = 0; round < n; ++round) {
    HouseholderMatrix best{{}, 2.0};
    double farthest = tolerance;
    for (int j = 0; j < n; ++j) {
      std::vector<double> moved(n);
      for (int i = 0; i < n; ++i) moved[i] = Q(i, j) - (i == j ? 1.0 : 0.0);
      const double distance = std::sqrt(Dot(moved, moved));
      if (distance > farthest) farthest = distance, best.k = std::move(moved);
    }
    if (best.k.empty()) return;
    for (double& entry : best.k) entry /= farthest;
    Apply(best, Q);
    factors.push_back(std::move(best));
  }
}

// Columns from `rank` on of the orthogonal factor's right half are free: the choice that fixes most.
Matrix OrthogonalPart(const Svd& svd, int rank, double tolerance) {
  const int n = svd.U.rows(), kernel = n - rank;
  if (kernel == 0) return svd.U * svd.V.Transposed();
  const Matrix U = svd.U.Columns(0, rank), V = svd.V.Columns(0, rank);
  const Matrix outside = svd.U.Columns(rank, kernel), N = svd.V.Columns(rank, kernel);
  // a = V alpha with (I - U^T V) alpha = U^T b, for all b of a basis N of the kernel; where U^T V fixes something, so
  // does W, and b has no part there.
  Matrix T = N;
  if (rank > 0) {
    const Svd system = ComputeSvd(Matrix::Identity(rank) - U.Transposed() * V);
    Matrix alpha = system.U.Transposed() * (U.Transposed() * N);
    for (int i = 0; i < rank; ++i) {
      for (double& entry : alpha.row(i)) entry = system.sigma[i] > tolerance ? entry / system.sigma[i] : 0.0;
    }
    alpha = system.V * alpha;
    T = N + V * alpha - U * alpha;
  }
  // Orthogonal but for rounding; what is left of that goes.
  T = outside * ClosestOrthogonal(outside.Transposed() * T);
  return U * V.Transposed() + T * N.Transposed();
}

}  // namespace

Factorisation Factor(const Matrix& M, double tolerance) {
  const int n = M.rows();
  LRNN_CHECK(n > 0 && M.cols() > 0, "[Factor] expected a matrix, got none");
  LRNN_CHECK(n == M.cols(), "[Factor] expected a square matrix, got {} rows and {} columns", n, M.cols());
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      LRNN_CHECK(std::isfinite(M(i, j)), "[Factor] expected finite entries, got {} in row {}, column {}", M(i, j),
                 i + 1, j + 1);
    }
  }
  const Svd svd = ComputeSvd(M);
  Factorisation result;
  result.norm = svd.sigma[0];
  LRNN_CHECK(result.norm <= 1.0 + tolerance,
             "[Factor] expected a contraction, got a matrix of norm {:.9g}: products of generalised Householder "
             "matrices with eigenvalues in [-1, 1] have norm at most 1",
             result.norm);
  result.is_orthogonal = svd.sigma.back() >= 1.0 - tolerance;
  result.lower_bound = Rank(M - Matrix::Identity(n), tolerance);

  const int rank = static_cast<int>(
      std::count_if(svd.sigma.begin(), svd.sigma.end(), [tolerance](double sigma) { return sigma > tolerance; }));
  AddReflections(OrthogonalPart(svd, rank, tolerance), tolerance, result.factors);
  for (int i = 0; i < n; ++i) {
    if (svd.sigma[i] >= 1.0 - tolerance) continue;
    HouseholderMatrix factor{{}, i < rank ? 1.0 - svd.sigma[i] : 1.0};
    for (int l = 0; l < n; ++l) factor.k.push_back(svd.V(l, i));
    result.factors.push_back(std::move(factor));
  }
  result.residual = (Product(result.factors, n) - M).MaxAbs();
  return result;
}

Matrix Product(const std::vector<HouseholderMatrix>& factors, int n) {
  Matrix product = Matrix::Identity(n);
  for (size_t i = factors.size(); i-- > 0;) Apply(factors[i], product);
  return product;
}

}  // namespace lrnn
