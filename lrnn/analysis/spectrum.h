// The eigenvalues that a model's state transitions really have on a task, as a histogram for each layer.
//
// Counted are the eigenvalues that depend on the input (SequenceMixer::Eigenvalues); a Householder layer's constant
// ones are left out.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <vector>

#include "lrnn/models/model.h"
#include "lrnn/tasks/batch.h"

namespace lrnn {

struct LayerSpectrum {
  std::vector<double> edges;    // of the bins, ascending, from -1 to 1
  std::vector<int64_t> counts;  // one for each bin; what rounding puts outside counts in the outermost
  double min;
  double max;
  double share_negative;
};

struct Spectrum {
  std::string task;
  EigenvalueRange range;  // declared
  int64_t tokens;
  std::vector<LayerSpectrum> layers;
};

Spectrum MeasureSpectrum(Model& model, const Task& task, LengthRange lengths, int64_t sequences, uint64_t seed);

nlohmann::json ToJson(const Spectrum& spectrum);  // spectrum.json

}  // namespace lrnn
