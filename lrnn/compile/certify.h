// All certificates of a network.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lrnn/compile/certificate.h"
#include "lrnn/compile/certify_float.h"
#include "lrnn/runtime/automaton_network.h"

namespace lrnn {

struct Certificates {
  Certificate local;                // C1
  Certificate arithmetic;           // C2
  std::vector<Certificate> floats;  // C3 in fp32 and bf16

  // The formats in which the network is proved to be the automaton on words of every length: those of C2 if C1 holds
  // too, and those of C3 (if C1 holds too, where it went level by level).
  std::vector<std::string> ProvedFormats() const;
};

Certificates Certify(const AutomatonNetwork& network, const FloatSearchLimits& limits = {});

}  // namespace lrnn
