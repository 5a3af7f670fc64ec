// How well a model's hidden states keep the states of the task's automaton apart, over time, and the length at which
// that must end.
//
// A linear RNN that preserves states cannot correct errors along the directions that separate them: what spread there
// is stays and adds up, until the decoder takes one state for another. Measured is, for each layer, the last tensor h
// of its state. At the reference length (the longest of the training) let mu_q be the mean of h over sequences that led
// the automaton to state q, q' the state whose mean is nearest to it, d_q = |mu_q' - mu_q| and u_q the unit vector
// towards mu_q'. At length t, in units of d_q and averaged over states:
//
//   spread      root mean square of u_q (h - mu_q(t)),    mu_q(t) the mean at that length
//   separation  mean of u_q (mu_q'(t) - mu_q(t)): 1 at the reference length
//   drift       mean of 2 u_q (h - mu_q): half of the way to q' is 1
//   used        drift + 2.326 (standard deviation of the same): the share of the half way that 99 % of the sequences
//               stay within, if they scatter normally. A decoder that chooses the nearest mean fails at 1.
//
// Means are of one half of the sequences, deviations of the other: a layer that separates nothing has drift 1.
//
// Prediction: independent errors add up in their variance, one-sided ones (a separation that shrinks) in the drift.
// Both are fitted by lines in t from the reference length on; where they give used = 1 is the predicted failure. Slopes
// within two standard errors of 0 count as 0.
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
  double drift;
  double deviation;  // standard deviation of what drift is the mean of
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
    kNone,          // neither drift nor variance grows
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
