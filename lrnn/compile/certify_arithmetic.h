// C2: the micro-steps of every symbol do, in exact arithmetic, what the symbol's action says, and so they do in float.
//
// The state of a layer is written as affine forms in the coordinates of H before the token (whole ranges, not samples);
// the micro-steps are applied to the forms exactly (dyadic numbers), and the result is compared with the form of the
// action: a permutation of coordinates, a written constant, a sign changed. All that the micro-steps compute on the way
// - products, partial sums of v - k^T S in every order, beta times the error, new entries - is a multiple of some 2^-q
// and bounded by some B. A float format of p significant bits represents all of these numbers when B 2^q <= 2^p; then
// it rounds nothing, whatever the order of sums and with or without fused multiply-add.
//
// Eigenvalues: 0 <= beta |k|^2 <= 2 for every factor, <= 1 in networks without negative eigenvalues.
#pragma once

#include "lrnn/compile/certificate.h"
#include "lrnn/runtime/automaton_network.h"

namespace lrnn {

// Does not hold for keys `unit` and for rotations, whose weights are rounded.
Certificate CertifyArithmetic(const AutomatonNetwork& network);

}  // namespace lrnn
