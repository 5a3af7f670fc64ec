#include "lrnn/models/model_files.h"

#include "lrnn/base/error.h"
#include "lrnn/io/model_directory.h"
#include "lrnn/runtime/automaton_files.h"

namespace lrnn {
namespace {

torch::Dtype TorchType(DType dtype) {
  switch (dtype) {
    case DType::F64:
      return torch::kFloat64;
    case DType::F32:
      return torch::kFloat32;
    case DType::F16:
      return torch::kFloat16;
    case DType::BF16:
      return torch::kBFloat16;
    case DType::I64:
      return torch::kInt64;
    case DType::I32:
      return torch::kInt32;
    case DType::I16:
      return torch::kInt16;
    case DType::I8:
      return torch::kInt8;
    case DType::U8:
      return torch::kUInt8;
    case DType::BOOL:
      return torch::kBool;
  }
  Fail("[TorchType] expected a known type, got {}", static_cast<int>(dtype));
}

}  // namespace

TensorMap ParameterViews(const torch::nn::Module& module) {
  TensorMap views;
  for (const auto& item : module.named_parameters()) {
    const torch::Tensor& tensor = item.value();
    LRNN_CHECK(tensor.is_contiguous() && tensor.is_cpu() && tensor.scalar_type() == torch::kFloat32,
               "[ParameterViews] expected contiguous float parameters on the CPU, got {} of {}", item.key(),
               c10::toString(tensor.scalar_type()));
    views.emplace(item.key(),
                  TensorView{DType::F32, tensor.sizes().vec(), static_cast<const std::byte*>(tensor.data_ptr()),
                             static_cast<size_t>(tensor.nbytes())});
  }
  return views;
}

void CopyInto(const TensorMap& from, const std::vector<std::pair<std::string, torch::Tensor>>& to,
              const std::string& source) {
  torch::NoGradGuard no_grad;
  std::set<std::string, std::less<>> wanted;
  for (const auto& [name, tensor] : to) {
    wanted.insert(name);
    const auto found = from.find(name);
    LRNN_CHECK(found != from.end(), "{}: tensor \"{}\" is missing", source, name);
    const TensorView& view = found->second;
    LRNN_CHECK(tensor.sizes() == at::IntArrayRef(view.shape), "{}: tensor \"{}\": expected shape {}, got {}", source,
               name, ShapeString({tensor.sizes().data(), tensor.sizes().size()}), ShapeString(view.shape));
    torch::Tensor values = torch::empty(tensor.sizes(), TorchType(view.dtype));  // a copy: file data may be misaligned
    if (view.bytes > 0) std::memcpy(values.data_ptr(), view.data, view.bytes);
    torch::Tensor target = tensor;
    target.copy_(values);
  }
  for (const auto& [name, view] : from)
    LRNN_CHECK(wanted.contains(name), "{}: tensor \"{}\" belongs to no part of the model", source, name);
}

void SaveModel(const Model& model, const std::filesystem::path& directory) {
  WriteModelDirectory(directory, model->config().json(), ParameterViews(*model));
}

Model LoadModel(const std::filesystem::path& directory) {
  const ModelDirectory files = ModelDirectory::Open(directory);
  LRNN_CHECK(!IsAutomaton(files), "{}: a compiled automaton, which LoadAutomatonModule loads and `lrnn run` runs",
             directory.string());
  nlohmann::json config = files.config();
  // Hugging Face leaves the key out of configs whose head is tied, and the head out of their weights.
  if (!files.fields().Has("tie_word_embeddings"))
    config["tie_word_embeddings"] = files.Find("lm_head.weight") == nullptr;
  Model model(Fields(config, files.fields().source()), 0);
  std::vector<std::pair<std::string, torch::Tensor>> parameters;
  for (const auto& item : model->named_parameters()) parameters.emplace_back(item.key(), item.value());
  TensorMap tensors = files.tensors();
  if (model->config().Bool("tie_word_embeddings")) tensors.erase("lm_head.weight");  // some store it all the same
  CopyInto(tensors, parameters, directory.string());
  model->eval();
  return model;
}

}  // namespace lrnn
