#include "lrnn/io/model_directory.h"

#include <map>
#include <system_error>
#include <utility>

#include "lrnn/base/error.h"
#include "lrnn/io/dialects.h"
#include "lrnn/io/json_file.h"

namespace lrnn {
namespace fs = std::filesystem;
namespace {

constexpr char kConfig[] = "config.json";
constexpr char kWeights[] = "model.safetensors";
constexpr char kIndex[] = "model.safetensors.index.json";
constexpr char kPickle[] = "pytorch_model.bin";

}  // namespace

ModelDirectory::ModelDirectory(fs::path path, Fields fields) : path_(std::move(path)), fields_(std::move(fields)) {}

ModelDirectory ModelDirectory::Open(const fs::path& path) {
  std::error_code ignored;
  LRNN_CHECK(fs::is_directory(path, ignored), "{}: expected a model directory, got {}", path.string(),
             fs::exists(path, ignored) ? "a file" : "nothing of that name");
  LRNN_CHECK(fs::exists(path / kConfig, ignored), "{}: not a model directory: {} is missing", path.string(), kConfig);
  ModelDirectory model(path, Fields(ReadJson(path / kConfig), (path / kConfig).string()));
  if (fs::exists(path / kWeights, ignored)) {
    model.weights_path_ = path / kWeights;
    model.files_.push_back(SafetensorsFile::Open(path / kWeights));
    model.tensors_ = model.files_.front().tensors();
  } else {
    LRNN_CHECK(fs::exists(path / kIndex, ignored) || !fs::exists(path / kPickle, ignored),
               "{}: {} is a program, which lrnn does not run: save the model as {}", path.string(), kPickle, kWeights);
    LRNN_CHECK(fs::exists(path / kIndex, ignored), "{}: not a model directory: neither {} nor {} is there",
               path.string(), kWeights, kIndex);
    model.weights_path_ = path / kIndex;
    model.OpenShards(path / kIndex);
  }
  nlohmann::json config = model.config();
  ToOneForm(config, model.tensors_, model.joined_, model.fields_.source());
  model.fields_ = Fields(std::move(config), model.fields_.source());
  return model;
}

void ModelDirectory::OpenShards(const fs::path& index_path) {
  const Fields weight_map = Fields(ReadJson(index_path), index_path.string()).Object("weight_map");
  std::map<std::string, size_t> opened;  // file name -> index in files_
  for (const auto& item : weight_map.json().items()) {
    const std::string& name = item.key();
    const std::string file = weight_map.String(name);
    if (file.empty() || fs::path(file) != fs::path(file).filename() || file == "..") {
      weight_map.Refuse(name, "the name of a file in the same directory");
    }
    const auto [entry, is_new] = opened.emplace(file, files_.size());
    if (is_new) files_.push_back(SafetensorsFile::Open(path_ / file));
    tensors_.emplace(name, files_[entry->second].Get(name));
  }
}

const TensorView* ModelDirectory::Find(std::string_view name) const {
  const auto tensor = tensors_.find(name);
  return tensor == tensors_.end() ? nullptr : &tensor->second;
}

const TensorView& ModelDirectory::Get(std::string_view name) const {
  const TensorView* tensor = Find(name);
  LRNN_CHECK(tensor != nullptr, "{}: tensor \"{}\" is missing", weights_path_.string(), name);
  return *tensor;
}

std::vector<float> ModelDirectory::Floats(std::string_view name, const std::vector<int64_t>& shape) const {
  const TensorView& tensor = Get(name);
  LRNN_CHECK(tensor.shape == shape, "{}: tensor \"{}\": expected shape {}, got {}", weights_path_.string(), name,
             ShapeString(shape), ShapeString(tensor.shape));
  const bool is_float = tensor.dtype == DType::F32 || tensor.dtype == DType::F64 || tensor.dtype == DType::F16 ||
                        tensor.dtype == DType::BF16;
  LRNN_CHECK(is_float, "{}: tensor \"{}\": expected type F64, F32, F16 or BF16, got {}", weights_path_.string(), name,
             Name(tensor.dtype));
  return ToFloats(tensor);
}

void WriteModelDirectory(const fs::path& path, const nlohmann::json& config, const TensorMap& tensors) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) throw Failure(fmt::format("{}: cannot create: {}", path.string(), error.message()));
  // "format": the transformers library refuses files that do not say which framework wrote them.
  WriteSafetensors(path / kWeights, tensors, {{"format", "pt"}});
  WriteJson(path / kConfig, config);
}

}  // namespace lrnn
