#include "lrnn/runtime/weight_reader.h"

#include "lrnn/base/error.h"

namespace lrnn {

std::vector<float> WeightReader::Read(const std::string& name, const std::vector<int64_t>& shape) {
  read_.insert(name);
  return model_.Floats(name, shape);
}

void WeightReader::CheckAllRead() const {
  for (const auto& [name, tensor] : model_.tensors()) {
    LRNN_CHECK(read_.contains(name), "{}: tensor \"{}\" belongs to no part of the model", model_.path().string(), name);
  }
}

}  // namespace lrnn
