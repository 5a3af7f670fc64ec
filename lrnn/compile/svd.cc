#include "lrnn/compile/svd.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace lrnn {
namespace {

// Turns rows i and j by one angle so that they become orthogonal; false when they are already.
bool MakeOrthogonal(std::span<double> a, std::span<double> b, std::span<double> va, std::span<double> vb) {
  const double aa = Dot(a, a), bb = Dot(b, b), ab = Dot(a, b);
  if (std::abs(ab) <= 1e-16 * std::sqrt(aa * bb) || aa * bb == 0.0) return false;
  const double zeta = (bb - aa) / (2.0 * ab);
  const double t = (zeta >= 0 ? 1.0 : -1.0) / (std::abs(zeta) + std::hypot(1.0, zeta));
  const double c = 1.0 / std::hypot(1.0, t), s = c * t;
  const auto turn = [c, s](std::span<double> x, std::span<double> y) {
    for (size_t l = 0; l < x.size(); ++l) {
      const double before = x[l];
      x[l] = c * before - s * y[l];
      y[l] = s * before + c * y[l];
    }
  };
  turn(a, b);
  turn(va, vb);
  return true;
}

// Fills the rows from `filled` on so that all rows are orthonormal.
void CompleteRows(Matrix& rows, int filled) {
  const int n = rows.rows();
  for (int next = filled; next < n; ++next) {
    // The unit vector that is farthest from the rows there are.
    int best = 0;
    double most = -1.0;
    for (int j = 0; j < n; ++j) {
      double left = 1.0;
      for (int i = 0; i < next; ++i) left -= rows(i, j) * rows(i, j);
      if (left > most) most = left, best = j;
    }
    const std::span<double> row = rows.row(next);
    row[best] = 1.0;
    for (int pass = 0; pass < 2; ++pass) {  // twice is enough
      for (int i = 0; i < next; ++i) {
        const double part = Dot(row, rows.row(i));
        for (int j = 0; j < n; ++j) row[j] -= part * rows(i, j);
      }
    }
    const double norm = std::sqrt(Dot(row, row));
    for (double& entry : row) entry /= norm;
  }
}

}  // namespace

Svd ComputeSvd(const Matrix& A) {
  const int n = A.rows();
  Matrix W = A.Transposed(), V = Matrix::Identity(n);  // rows of W: A times rows of V
  constexpr int kMaxSweeps = 60;
  int sweep = 0;
  for (bool changed = true; changed && sweep < kMaxSweeps; ++sweep) {
    changed = false;
    for (int i = 0; i < n; ++i) {
      for (int j = i + 1; j < n; ++j) changed |= MakeOrthogonal(W.row(i), W.row(j), V.row(i), V.row(j));
    }
  }

  std::vector<double> norms;
  for (int i = 0; i < n; ++i) norms.push_back(std::sqrt(Dot(W.row(i), W.row(i))));
  std::vector<int> order(n);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int i, int j) { return norms[i] > norms[j]; });
  Svd svd;
  Matrix left(n, n), right(n, n);
  int filled = 0;
  // Directions of singular values that are all rounding say nothing: they are chosen anew.
  const double smallest = n > 0 ? norms[order[0]] * n * 1e-16 : 0.0;
  for (int i = 0; i < n; ++i) {
    const double sigma = norms[order[i]];
    svd.sigma.push_back(sigma > smallest ? sigma : 0.0);
    std::copy_n(V.row(order[i]).begin(), n, right.row(i).begin());
    if (svd.sigma[i] == 0.0) continue;
    for (int l = 0; l < n; ++l) left(i, l) = W(order[i], l) / sigma;
    ++filled;
  }
  CompleteRows(left, filled);
  svd.U = left.Transposed();
  svd.V = right.Transposed();
  return svd;
}

int Rank(const Matrix& A, double tolerance) {
  const Svd svd = ComputeSvd(A);
  return static_cast<int>(
      std::count_if(svd.sigma.begin(), svd.sigma.end(), [tolerance](double sigma) { return sigma > tolerance; }));
}

Matrix ClosestOrthogonal(const Matrix& A) {
  const Svd svd = ComputeSvd(A);
  return svd.U * svd.V.Transposed();
}

}  // namespace lrnn
