// Runs a compiled automaton, a token at a time, in the arithmetic of Number: float, double, Bf16 or Fixed8.
//
// The state of the network is the states S of all layers; it is all that is kept between tokens.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "lrnn/runtime/automaton_network.h"

namespace lrnn {

template <typename Number>
class AutomatonStepper {
 public:
  virtual ~AutomatonStepper() = default;

  // Numbers in the state; all are 0 before the first token.
  virtual int64_t StateSize() const = 0;

  // Takes a letter and gives the state of the automaton, read from the layers alone. -1: they hold no state (weights
  // that no proof covers, or rounding that went too far); nothing is right from then on.
  virtual int Step(int letter, Number* S) const = 0;

  // Step after step: states[t] is the state after letters[t].
  virtual void Run(std::span<const int> letters, Number* S, int* states) const = 0;
};

// The network, which is valid, is not needed afterwards.
template <typename Number>
std::unique_ptr<AutomatonStepper<Number>> MakeStepper(const AutomatonNetwork& network);

}  // namespace lrnn
