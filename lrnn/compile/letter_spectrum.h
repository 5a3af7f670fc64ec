// The eigenvalues that a compiled automaton uses, letter by letter.
#pragma once

#include <complex>
#include <vector>

#include "lrnn/runtime/automaton_network.h"

namespace lrnn {

// Which eigenvalues the transition of a layer can have when a letter is read: those of every symbol that the letter can
// lead to there, given what the levels above may hold. The transition of a symbol is the product of its micro-steps'
// I - beta k k^T.
struct LetterSpectrum {
  int letter;
  int level, layer;                               // of the network, of the level
  std::vector<std::complex<double>> eigenvalues;  // different ones (by more than 1e-6), by real, then imaginary part
};

// For every layer and letter, layers outermost. A jit network has no layers to ask.
std::vector<LetterSpectrum> LetterSpectra(const AutomatonNetwork& network);

}  // namespace lrnn
