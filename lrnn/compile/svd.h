// Singular values by one-sided Jacobi rotations: slow for large matrices, and accurate to the last bits.
#pragma once

#include <vector>

#include "lrnn/compile/matrix.h"

namespace lrnn {

// A = U diag(sigma) V^T with U, V: [n, n] orthogonal, sigma: [n] in decreasing order, none negative.
struct Svd {
  Matrix U, V;
  std::vector<double> sigma;
};

// A is square and finite.
Svd ComputeSvd(const Matrix& A);

// How many singular values are larger than `tolerance`.
int Rank(const Matrix& A, double tolerance);

// The orthogonal matrix U V^T, the closest to A.
Matrix ClosestOrthogonal(const Matrix& A);

}  // namespace lrnn
