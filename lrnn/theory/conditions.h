// What the eigenvalues of the transition matrices allow (Grazzi et al., "Unlocking State-Tracking in Linear RNNs
// Through Negative Eigenvalues", 2024, Theorems 1 and 2, in the form that holds):
//
//   parity     in finite precision, only if at *some* layer some A(x) has an eigenvalue of modulus >= 1 that is not
//   real
//              and positive. Otherwise every layer's state converges on 1 1 1 ..., from the lowest up.
//   counting   modulo an m that is no power of 2, only if at some layer i some product of 2^(i-1) of its matrices has
//   an modulo m   eigenvalue of modulus >= 1 that is not real: below, periods can only double, so layer i sees an input
//   of
//              period 2^(i-1) at most. That all single matrices have real eigenvalues is not enough to rule it out: two
//              reflections make a rotation.
//
// Two shortcuts for every depth: triangular matrices (their products are triangular, with real eigenvalues), and
// matrices that keep the length of a vector only when they fix it (so do their products; then 1 is the only eigenvalue
// of modulus 1). Products of generalised Householder matrices with eigenvalues in (-1, 1] are of the second kind.
//
// The conditions are necessary. That they are met does not make a model that counts.
#pragma once

#include <string>
#include <string_view>

#include "lrnn/theory/transitions.h"

namespace lrnn {

enum class Answer { kPossible, kImpossible, kOpen };

struct Verdict {
  Answer answer = Answer::kOpen;
  std::string checked;  // what was looked at, with numbers
  std::string reason;
};

// Eigenvalues within the tolerance of modulus 1 count as of modulus 1, those within it of the real line as real.
Verdict CheckParity(const Transitions& transitions, double tolerance = 1e-6);
Verdict CheckModularCounting(const Transitions& transitions, double tolerance = 1e-6);

std::string_view Name(Answer answer);  // "possible", "impossible", "open"

}  // namespace lrnn
