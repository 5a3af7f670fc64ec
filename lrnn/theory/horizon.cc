#include "lrnn/theory/horizon.h"

#include <cmath>
#include <limits>
#include <optional>

#include "lrnn/compile/eigenvalues.h"

namespace lrnn {

double HorizonTokens(double modulus, double noise) {
  if (modulus >= 1.0 - 1e-13) return std::numeric_limits<double>::infinity();
  if (modulus <= 0.0) return 0.0;
  return std::log(1.0 / noise) / -std::log(modulus);
}

std::vector<LayerHorizon> Horizons(const Transitions& transitions) {
  std::vector<LayerHorizon> horizons;
  for (const TransitionLayer& layer : transitions.layers) {
    std::optional<LayerHorizon> best;
    for (const Transition& transition : layer.transitions) {
      for (const std::complex<double> value : Eigenvalues(transition.A)) {
        const bool is_positive = std::abs(value.imag()) <= 1e-9 && value.real() > 0.0;
        if (is_positive || value == 0.0 || (best && std::abs(value) <= std::abs(best->eigenvalue) + 1e-12)) continue;
        best = {layer.name, transition.input, value};
      }
    }
    if (best) horizons.push_back(*best);
  }
  return horizons;
}

}  // namespace lrnn
