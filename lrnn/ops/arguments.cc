#include "lrnn/ops/arguments.h"

#include <fmt/ranges.h>

#include "lrnn/base/error.h"

namespace lrnn::ops {

using torch::Tensor;

ArgumentCheck::ArgumentCheck(const char* operation, const char* first_name, const Tensor& first)
    : operation_(operation), first_name_(first_name), first_(first) {
  LRNN_CHECK(first.is_floating_point(), "[{}] expected {} of a floating type, got {}", operation, first_name,
             c10::toString(first.scalar_type()));
}

void ArgumentCheck::TypeAndDevice(const char* name, const Tensor& tensor) const {
  LRNN_CHECK(tensor.scalar_type() == first_.scalar_type(), "[{}] expected {} of {}'s type {}, got {}", operation_, name,
             first_name_, c10::toString(first_.scalar_type()), c10::toString(tensor.scalar_type()));
  LRNN_CHECK(tensor.device() == first_.device(), "[{}] expected {} on {}'s device {}, got {}", operation_, name,
             first_name_, first_.device().str(), tensor.device().str());
}

void ArgumentCheck::Shape(const char* name, const Tensor& tensor, const char* letters, at::IntArrayRef shape) const {
  LRNN_CHECK(tensor.sizes() == shape, "[{}] expected {} of shape {} = [{}], got [{}]", operation_, name, letters,
             fmt::join(shape, ", "), fmt::join(tensor.sizes(), ", "));
  TypeAndDevice(name, tensor);
}

void ArgumentCheck::Shape(const char* name, const c10::optional<Tensor>& tensor, const char* letters,
                          at::IntArrayRef shape) const {
  if (tensor) Shape(name, *tensor, letters, shape);
}

bool HasKernel(const Tensor& tensor) {
  return tensor.is_cpu() && (tensor.scalar_type() == torch::kFloat32 || tensor.scalar_type() == torch::kFloat64);
}

void CheckDifferentiatedOnce(const char* operation, const char* form) {
  LRNN_CHECK(!torch::GradMode::is_enabled(), "[{}] the fused kernel can be differentiated once; use {} for more",
             operation, form);
}

}  // namespace lrnn::ops
