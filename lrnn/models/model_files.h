// Models to and from model directories (config.json + model.safetensors).
#pragma once

#include <filesystem>

#include "lrnn/io/safetensors.h"
#include "lrnn/models/model.h"

namespace lrnn {

// The parameters of a module as views for a safetensors file; valid as long as the module and its parameters are.
TensorMap ParameterViews(const torch::nn::Module& module);

// Copies tensors of a file into tensors of the same names; an Error names what is missing, unknown or of another shape.
// `source` is the place named in errors.
void CopyInto(const TensorMap& from, const std::vector<std::pair<std::string, torch::Tensor>>& to,
              const std::string& source);

void SaveModel(const Model& model, const std::filesystem::path& directory);

// Any model directory of a known model_type, ours or the field's; for use (torch's eval()), until train() is called.
Model LoadModel(const std::filesystem::path& directory);

}  // namespace lrnn
