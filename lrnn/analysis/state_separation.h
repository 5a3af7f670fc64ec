// How well a model's hidden states keep the states of the task's automaton apart, over time, and the length at which
// that must end.
//
// A linear RNN that preserves states cannot correct errors along the directions that separate them: what spread there
// is stays, and where eigenvalues are not quite 1 or -1 the states themselves come closer, until the decoder takes one
// for another. Measured is, for each layer, the last tensor h of its state. At the reference length (the longest of the
// training) let mu_q be the mean of h over sequences that led the automaton to state q, q' the state whose mean is
// nearest to it, d_q = |mu_q' - mu_q| and u_q the unit vector towards mu_q'. At length t, in units of d_q and averaged
// over states, with mu_q(t) the mean at that length:
//
//   spread      root mean square of u_q (h - mu_q(t))
//   separation  mean of u_q (mu_q'(t) - mu_q(t)): 1 at the reference length
//   used        2.326 spread / (separation / 2): the share of the half way to q' that 99 % of the sequences keep
//               within, if they scatter normally. A decoder that chooses the nearest mean is below 0.99 from 1 on.
//
// Directions come from one half of the sequences, all else from the other: a layer that separates nothing shows it.
//
// Prediction, where used = 1 lies beyond the lengths measured: the separation goes on as exp(a - b t), fitted to the
// longer half of them, and
//
//   (spread / separation)^2 = fresh / separation^2 + walk t
//
// has two parts: noise of constant size that each token brings anew, and errors relative to the state that add up like
// a random walk. b counts if it is more than two standard errors; of the two parts the one that fits better is taken,
// or both where that quarters the squared error.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "lrnn/models/model.h"
#include "lrnn/tasks/task.h"

namespace lrnn {

struct SeparationOptions {
  int64_t reference_length = 40;
  int64_t max_length = 1024;
  int64_t sequences = 256;
  uint64_t seed = 0;
};

struct SeparationPoint {
  int64_t length;
  double spread;
  double separation;
  double used;
};

struct LayerSeparation {
  size_t layer;
  int64_t states;   // that occur often enough at the reference length
  double distance;  // mean of d_q
  std::vector<SeparationPoint> points;
};

struct FailurePrediction {
  enum class Kind {
    kNotSeparated,  // used >= 1 at the reference length: length is 0
    kMeasured,      // used reaches 1 within the lengths that were measured
    kExtrapolated,  // beyond them
    kNone,          // never: the spread does not grow against the separation
  };
  Kind kind;
  double length = 0;
};

struct StateSeparation {
  SeparationOptions options;
  std::string task;
  int64_t states;                                    // of the automaton
  std::vector<LayerSeparation> layers;               // those with a state of fixed size
  std::vector<std::pair<int64_t, double>> accuracy;  // length, share of right predictions there
  size_t tracker;                                    // in `layers`: the one that separates best at the reference length
  FailurePrediction prediction;                      // of that layer
};

// The task must have an automaton, the model a layer with a state of fixed size; an Error when fewer than two of its
// states occur at the reference length.
StateSeparation MeasureSeparation(Model& model, const Task& task, const SeparationOptions& options);

FailurePrediction PredictFailure(const std::vector<SeparationPoint>& points, int64_t reference_length);

// "about length 5300, extrapolated", ...: for people.
std::string Describe(const FailurePrediction& prediction);

nlohmann::json ToJson(const StateSeparation& separation);  // "separation" in analysis.json

}  // namespace lrnn
