// How long an eigenvalue that is almost -1 carries parity: what is left of the state after t tokens is |lambda|^t of
// it, and is lost when it is as small as the rounding.
//
//   tokens = ln(1 / noise) / -ln |lambda|        noise = 2^-8 in bf16, 2^-24 in fp32, 2^-53 in fp64
#pragma once

#include <complex>
#include <string>
#include <vector>

#include "lrnn/theory/transitions.h"

namespace lrnn {

inline constexpr double kNoiseBf16 = 0x1p-8, kNoiseFp32 = 0x1p-24, kNoiseFp64 = 0x1p-53;

// Infinite for modulus 1 and above (within rounding), 0 for modulus 0.
double HorizonTokens(double modulus, double noise);

struct LayerHorizon {
  std::string layer, input;  // where the eigenvalue is
  std::complex<double> eigenvalue;
};

// For each layer its largest eigenvalue that is not real and positive; layers that have none are left out.
std::vector<LayerHorizon> Horizons(const Transitions& transitions);

}  // namespace lrnn
