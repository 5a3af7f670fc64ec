#include "lrnn/compile/certify.h"

#include <algorithm>

#include "lrnn/compile/certify_arithmetic.h"
#include "lrnn/compile/certify_float.h"
#include "lrnn/compile/certify_local.h"
#include "lrnn/runtime/bf16.h"

namespace lrnn {

std::vector<std::string> Certificates::ProvedFormats() const {
  std::vector<std::string> proved;
  for (const char* format : {"bf16", "fp16", "fp32", "fp64"}) {
    const auto covers = [&](const Certificate& certificate) {
      return certificate.holds && (local.holds || !certificate.needs_local) &&
             std::count(certificate.formats.begin(), certificate.formats.end(), format) > 0;
    };
    if (covers(arithmetic) || std::any_of(floats.begin(), floats.end(), covers)) {
      proved.push_back(format);
    }
  }
  return proved;
}

Certificates Certify(const AutomatonNetwork& network, const FloatSearchLimits& limits) {
  return {CertifyLocal(network),
          CertifyArithmetic(network),
          {CertifyFloat<float>(network, limits), CertifyFloat<Bf16>(network, limits)}};
}

}  // namespace lrnn
