// A model on disk, the Hugging Face way: a directory with
//
//   config.json                       model_type, sizes, flags
//   model.safetensors                 the weights, or in parts:
//   model.safetensors.index.json      {"weight_map": {tensor: file}}, and the files it names
//
// Whatever way of the field it is written in, it is shown in one form (lrnn/io/dialects.h).
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "lrnn/io/fields.h"
#include "lrnn/io/safetensors.h"

namespace lrnn {

class ModelDirectory {
 public:
  static ModelDirectory Open(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return path_; }
  const nlohmann::json& config() const { return fields_.json(); }
  const Fields& fields() const { return fields_; }

  // The tensors of all files. Views stay valid as long as this object (or what it is moved into) lives.
  const TensorMap& tensors() const { return tensors_; }
  const TensorView* Find(std::string_view name) const;  // nullptr when there is none
  const TensorView& Get(std::string_view name) const;   // an Error names file and tensor when there is none

  // The tensor as floats; an Error names file, tensor, expected and found shape, or the type when it is not a float
  // type.
  std::vector<float> Floats(std::string_view name, const std::vector<int64_t>& shape) const;

 private:
  ModelDirectory(std::filesystem::path path, Fields fields);
  void OpenShards(const std::filesystem::path& index_path);

  std::filesystem::path path_;
  Fields fields_;
  std::filesystem::path weights_path_;  // model.safetensors or its index, for messages
  std::vector<SafetensorsFile> files_;
  TensorMap tensors_;
  std::vector<std::vector<std::byte>> joined_;  // tensors that are parts in the files
};

// Writes config.json and model.safetensors, creating the directory when needed. Each file is replaced atomically,
// config.json last: a directory that was new has no config.json until it is whole.
void WriteModelDirectory(const std::filesystem::path& path, const nlohmann::json& config, const TensorMap& tensors);

}  // namespace lrnn
