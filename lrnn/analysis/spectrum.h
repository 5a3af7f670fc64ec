// The eigenvalues that a model's state transitions really have on a task, as a histogram for each layer.
//
// Counted are the eigenvalues that depend on the input (LinearMixer::Eigenvalues), of complex ones the real part; a
// Householder layer's constant ones are left out, and layers that are no linear RNN.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <vector>

#include "lrnn/models/model.h"
#include "lrnn/tasks/batch.h"

namespace lrnn {

struct LayerSpectrum {
  size_t layer;                 // its place in the model
  std::vector<double> edges;    // of the bins, ascending, from -1 to 1
  std::vector<int64_t> counts;  // one for each bin; what rounding puts outside counts in the outermost
  double min;
  double max;
  double share_negative;
};

struct Spectrum {
  std::string task;
  EigenvalueRange range;  // declared, of all layers together
  int64_t tokens;
  std::vector<LayerSpectrum> layers;
};

// An Error when no layer of the model is linear.
Spectrum MeasureSpectrum(Model& model, const Task& task, LengthRange lengths, int64_t sequences, uint64_t seed);

nlohmann::json ToJson(const Spectrum& spectrum);  // spectrum.json

}  // namespace lrnn
