// The eigenvalues that a model's state transitions really have on a task: a histogram for each layer, and what each
// head and each letter contributes.
//
// Counted are the eigenvalues that depend on the input (LinearMixer::Eigenvalues), of complex ones the real part; a
// Householder layer's constant ones are left out, and layers that are no linear RNN.
#pragma once

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lrnn/models/model.h"
#include "lrnn/tasks/batch.h"

namespace lrnn {

struct EigenvalueSummary {
  int64_t count = 0;
  int64_t negative = 0;
  double sum = 0;
  double min = std::numeric_limits<double>::infinity();
  double max = -std::numeric_limits<double>::infinity();
  double largest_imaginary = 0;  // modulus of the imaginary part

  double mean() const { return sum / static_cast<double>(count); }
  double share_negative() const { return static_cast<double>(negative) / static_cast<double>(count); }

  void Add(const torch::Tensor& eigenvalues);  // real or complex, of any shape
  void Add(const EigenvalueSummary& other);
};

// The transitions at one letter. (In the first layer of a model without convolutions they are a function of it; later
// ones also depend on what came before.)
struct LetterSpectrum {
  int32_t token;
  std::string letter;
  std::vector<int64_t> counts;  // by the bins of the layer
  EigenvalueSummary all;
  std::vector<EigenvalueSummary> heads;
};

struct LayerSpectrum {
  size_t layer;                 // its place in the model
  std::vector<double> edges;    // of the bins, ascending, from -1 to 1
  std::vector<int64_t> counts;  // one for each bin; what rounding puts outside counts in the outermost
  double min;
  double max;
  double share_negative;
  std::vector<EigenvalueSummary> heads = {};  // one entry for all where there are more than 64 (channels)
  std::vector<LetterSpectrum> letters = {};   // those that occurred, by token
};

struct Spectrum {
  std::string task;
  EigenvalueRange range;  // declared, of all layers together
  int64_t tokens;
  std::vector<LayerSpectrum> layers;
};

// The layers that are no linear RNN and so have no eigenvalues.
std::vector<size_t> LayersWithoutEigenvalues(Model& model);

// An Error when no layer of the model is linear.
Spectrum MeasureSpectrum(Model& model, const Task& task, LengthRange lengths, int64_t sequences, uint64_t seed);

nlohmann::json ToJson(const Spectrum& spectrum);  // spectrum.json: without heads and letters

// "spectrum" in analysis.json: all but the layers' histograms. Letters are left out where there are more than 32.
nlohmann::json DetailsJson(const Spectrum& spectrum);

}  // namespace lrnn
