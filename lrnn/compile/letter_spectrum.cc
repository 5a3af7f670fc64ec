#include "lrnn/compile/letter_spectrum.h"

#include <algorithm>
#include <set>

#include "lrnn/compile/eigenvalues.h"
#include "lrnn/compile/matrix.h"

namespace lrnn {
namespace {

using Spectrum = std::vector<std::complex<double>>;

Matrix TransitionOf(const DeltaProductTable& layer, int symbol) {
  Matrix A = Matrix::Identity(layer.K);
  for (int m = 0; m < layer.n_h; ++m) {
    const int step = symbol * layer.n_h + m;
    const float* k = layer.k.data() + static_cast<size_t>(step) * layer.K;
    Matrix factor = Matrix::Identity(layer.K);
    for (int i = 0; i < layer.K; ++i) {
      for (int j = 0; j < layer.K; ++j) factor(i, j) -= static_cast<double>(layer.beta[step]) * k[i] * k[j];
    }
    A = factor * A;  // the first micro-step is the rightmost factor
  }
  return A;
}

void AddDistinct(const Spectrum& values, Spectrum& all) {
  for (const std::complex<double>& value : values) {
    const bool is_known =
        std::any_of(all.begin(), all.end(), [&](const auto& other) { return std::abs(other - value) < 1e-6; });
    if (!is_known) all.push_back(value);
  }
}

}  // namespace

std::vector<LetterSpectrum> LetterSpectra(const AutomatonNetwork& network) {
  std::vector<LetterSpectrum> spectra;
  std::vector<std::set<int>> contexts;  // [letter]
  for (const int context : network.first_context) contexts.push_back({context});
  for (size_t i = 0; i < network.levels.size(); ++i) {
    const AutomatonLevel& level = network.levels[i];
    const CascadeTables& tables = level.tables;
    for (size_t layer = 0; layer < level.layers.size(); ++layer) {
      const DeltaProductTable& table = level.layers[layer];
      std::vector<Spectrum> of_symbol;
      for (int symbol = 0; symbol < table.symbols; ++symbol) {
        of_symbol.push_back(Eigenvalues(TransitionOf(table, symbol)));
      }
      for (size_t letter = 0; letter < contexts.size(); ++letter) {
        std::set<int> symbols;
        for (const int context : contexts[letter]) {
          const int action = tables.action_of[context];
          if (layer == 0) {
            symbols.insert(action);
          } else if (tables.IsReset(action)) {
            for (int y = 0; y < tables.labels; ++y) symbols.insert(1 + y);
          } else {
            symbols.insert(0);
          }
        }
        LetterSpectrum spectrum{static_cast<int>(letter), static_cast<int>(i), static_cast<int>(layer), {}};
        for (const int symbol : symbols) AddDistinct(of_symbol[symbol], spectrum.eigenvalues);
        std::sort(spectrum.eigenvalues.begin(), spectrum.eigenvalues.end(), [](const auto& a, const auto& b) {
          const bool same_real = std::abs(a.real() - b.real()) < 1e-6;
          return same_real ? a.imag() < b.imag() : a.real() < b.real();
        });
        spectra.push_back(std::move(spectrum));
      }
    }
    for (std::set<int>& reached : contexts) {
      std::set<int> next;
      for (const int context : reached) {
        for (const int to : tables.next[context]) {
          if (to >= 0) next.insert(to);
        }
      }
      reached = std::move(next);
    }
  }
  return spectra;
}

}  // namespace lrnn
