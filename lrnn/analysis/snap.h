// Moves a trained DeltaNet onto exact transitions where that keeps its answers.
//
//   S <- (I - beta k k^T) S + beta k v^T,   beta = 2 sigmoid(w . x),   k = W_k x / |W_k x|        per head
//
// Without a convolution the inputs x of the first layer depend on the letter alone: beta, k, q and v are a table with a
// row for each letter. Once that layer's state takes only finitely many values, so do the inputs of the next, and so
// on. A layer whose inputs take m <= D values that are linearly independent can be given any table: the smallest change
// of w with w . x_j = z_j is w + X^+ (z - X w). What is done, each step only if no more than a thousandth of the
// answers is lost, of those to words of the task and of those to all short words:
//
//   off     heads whose values can be zero (S stays 0), the least exact ones first, from the last layer down
//   beta    one input after the other to the nearest of {0, 1, 2} ({0, 1} without negative eigenvalues). 0 and 2 are
//           exact in floats: the sigmoid is saturated; 1 is so up to rounding, which a transition that forgets
//           forgives. Where the nearest costs answers, after the keys the others are tried
//   keys    the head's keys (of inputs with beta > 0) to coordinate axes. A rotation R of keys and queries together
//           changes nothing, (R k)(R k)^T R S = R k k^T S; so R takes the first key to e_0, and only the angles between
//           keys are rounded, to 0 or 90 degrees. With k = e_i and beta = 2 a row of S alternates between 0 and 2 v
//           for ever without an error
//
// Keys on one axis are exact. On several they are so with qk_activation "silu", whose negative side vanishes; with
// "identity" they are to about 1e-7. Values are left alone. Whether the result is exact is for CertifyModel to say.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lrnn/automata/token_automaton.h"
#include "lrnn/models/model.h"
#include "lrnn/tasks/task.h"

namespace lrnn {

struct SnapOptions {
  int64_t words = 32;     // on which the answers are compared
  int64_t letters = 256;  // of each
  double slack = 0.001;   // share of answers that may be lost, all in all
  int64_t max_inputs = 64;
  uint64_t seed = 0;
};

struct SnappedBeta {
  std::string input;  // the letter; in later layers with a number, as a letter has several inputs there
  double before;
  double after;
  bool snapped;
};

struct SnappedHead {
  SnappedHead(int64_t layer, int64_t head) : layer(layer), head(head) {}

  int64_t layer;
  int64_t head;
  bool off = false;
  std::vector<SnappedBeta> betas;  // empty when off, or when the layer was left alone
  bool keys_snapped = false;
  int64_t axes = 0;         // that the keys were moved to
  double largest_turn = 0;  // of a key relative to the first, in degrees
  std::string problem;      // what could not be done and why, "" for nothing
};

struct Snapping {
  double accuracy_before;  // share of right answers
  double accuracy_after;
  std::vector<SnappedHead> heads;  // by layer

  // Every head is off, or all its betas and keys are snapped.
  bool complete() const;
};

// Changes the weights of the model. An Error for other layers than delta_net and for one with convolutions.
Snapping Snap(Model& model, const Task& task, const TokenAutomaton& truth, const SnapOptions& options = {});

}  // namespace lrnn
