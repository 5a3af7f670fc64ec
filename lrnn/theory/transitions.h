// The transition matrices of a linear RNN: what the theorems on state tracking speak of.
//
//   H_t = A(x_t) H_{t-1} + B(x_t)       A(x): [n, n], B(x): [n]      x_t: the layer's own input, of a finite number
//
// Layer i + 1 reads what layer i gives. Several matrices side by side (heads) are layers of the same depth.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lrnn/compile/matrix.h"
#include "lrnn/runtime/automaton_network.h"

namespace lrnn {

struct Transition {
  std::string input;  // its name
  Matrix A;
  std::vector<double> B;  // empty: 0
};

struct TransitionLayer {
  std::string name;
  int depth = 1;              // 1: the lowest
  std::vector<double> start;  // H_0; empty: not given
  std::vector<Transition> transitions;
};

struct Transitions {
  std::vector<TransitionLayer> layers;
  bool is_complete = true;  // these are all inputs that the layers can get, not only those that were seen
  int64_t matrices() const;
  int depth() const;
};

// The layers of a compiled automaton, each with its symbols as inputs. An Error for mode jit, which has no tables.
Transitions TransitionsOf(const AutomatonNetwork& network);

// Text: matrices as in lrnn/compile/matrix_text.h under words that say what they are,
//
//   layer              # the lowest; may be left out when there is one
//   start 1 0 0        # H_0, for `period`; may be left out
//   input a            # A(a) follows, row by row
//   0 1 0
//   1 0 0
//   0 0 1
//   offset 0 0 0.5     # B(a); left out: 0
//   input b
//   ...
//   layer              # the next one up
//
// A file of one matrix alone, also as JSON, is one layer of one input. `source` is its name in messages.
Transitions ReadTransitions(std::string_view text, std::string_view source);

}  // namespace lrnn
