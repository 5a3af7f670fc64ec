// Eigenvalues of small real matrices.
#pragma once

#include <complex>
#include <string>
#include <vector>

#include "lrnn/compile/matrix.h"

namespace lrnn {

// All n of them, by decreasing modulus; non-real ones come in conjugate pairs. Hessenberg form, then QR steps with
// shifts, in complex arithmetic. Accurate to rounding for normal matrices; an eigenvalue of multiplicity m of a matrix
// that is not diagonalisable is known to about the m-th root of that. A is square and finite.
std::vector<std::complex<double>> Eigenvalues(const Matrix& A);

// As people write them: -1, 0.5-0.866025i.
std::string EigenvalueText(std::complex<double> value);

}  // namespace lrnn
