// The weights of a model directory, each read once: what nobody reads is an error, so that no part of a checkpoint is
// silently left out.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "lrnn/io/model_directory.h"

namespace lrnn {

class WeightReader {
 public:
  explicit WeightReader(const ModelDirectory& model) : model_(model), config_(&model.fields()) {}

  // Of the layer that is being read, or of the model. `config` must outlive its use.
  const Fields& config() const { return *config_; }
  void UseConfig(const Fields& config) { config_ = &config; }

  bool Has(const std::string& name) const { return model_.Find(name) != nullptr; }

  // The tensor as floats; an Error when it is missing or has another shape.
  std::vector<float> Read(const std::string& name, const std::vector<int64_t>& shape);

  // Counts the tensor as read.
  void Skip(const std::string& name) { read_.insert(name); }

  // An Error names the first tensor that was not read.
  void CheckAllRead() const;

 private:
  const ModelDirectory& model_;
  const Fields* config_;
  std::set<std::string, std::less<>> read_;
};

}  // namespace lrnn
