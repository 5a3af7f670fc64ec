// Contractions as products of generalised Householder matrices I - beta k k^T, |k| = 1, 0 <= beta <= 2.
//
// Orthogonal Q: reflections (beta = 2), as many as rank(I - Q), and no fewer will do (Scherk). With the column j that Q
// moves farthest and v = (Q e_j - e_j) / |Q e_j - e_j|, the matrix (I - 2 v v^T) Q fixes e_j and all that Q fixes.
//
// Other contractions: M = U diag(sigma) V^T = Q P with Q = U V^T orthogonal and P = V diag(sigma) V^T the product of
// the factors (v_i, 1 - sigma_i). At most 2 n factors. Where sigma_i = 0 the choice of Q is free: W = U_+ V_+^T maps
// the space V_+ of the other singular vectors to U_+; Q b = b + a - W a for b in the kernel, with a in V_+ such that
// the right side is orthogonal to U_+, is orthogonal and fixes a + b. So every dimension of the kernel saves a
// reflection.
//
// rank(M - I) is a lower bound for every contraction.
#pragma once

#include <vector>

#include "lrnn/compile/matrix.h"

namespace lrnn {

struct HouseholderMatrix {
  std::vector<double> k;  // |k| = 1
  double beta;
};

struct Factorisation {
  std::vector<HouseholderMatrix> factors;  // M = F_1 F_2 ...: the last acts first
  bool is_orthogonal = false;
  double norm = 0.0;      // of M: its largest singular value
  int lower_bound = 0;    // rank(M - I)
  double residual = 0.0;  // the largest entry of |F_1 F_2 ... - M|
};

// Singular values within `tolerance` of 0 or 1 count as 0 or 1, and reflections that move nothing by more than that are
// left out. Throws Error when M is empty, not square, has entries that are not finite, or is no contraction (norm above
// 1 + tolerance).
Factorisation Factor(const Matrix& M, double tolerance = 1e-6);

// F_1 F_2 ... for matrices of n rows.
Matrix Product(const std::vector<HouseholderMatrix>& factors, int n);

}  // namespace lrnn
