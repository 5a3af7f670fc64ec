// What the operations with kernels share: checks of their arguments, and pointers into tensors that may be missing.
#pragma once

#include "lrnn/ops/torch.h"

namespace lrnn::ops {

// The arguments of one operation are checked against its first: a floating type that all of them share, one device, and
// a shape each. What is wrong is an Error that names the operation and the argument.
class ArgumentCheck {
 public:
  ArgumentCheck(const char* operation, const char* first_name, const torch::Tensor& first);

  void TypeAndDevice(const char* name, const torch::Tensor& tensor) const;
  // `letters` is the shape as the documentation writes it: "[T, H, K]".
  void Shape(const char* name, const torch::Tensor& tensor, const char* letters, at::IntArrayRef shape) const;
  void Shape(const char* name, const c10::optional<torch::Tensor>& tensor, const char* letters,
             at::IntArrayRef shape) const;

 private:
  const char* operation_;
  const char* first_name_;
  const torch::Tensor& first_;
};

// Whether kernels take tensors like this one: on the CPU, of float or double.
bool HasKernel(const torch::Tensor& tensor);

// An Error where the gradients of a kernel's gradients are asked for; `form` of the operation has them.
void CheckDifferentiatedOnce(const char* operation, const char* form);

// Null where there is no tensor.
template <typename T>
T* Data(const torch::Tensor& tensor) {
  return tensor.defined() ? tensor.data_ptr<T>() : nullptr;
}

// The tensor without gaps, undefined where there is none.
inline torch::Tensor Dense(const torch::Tensor& tensor) { return tensor.defined() ? tensor.contiguous() : tensor; }
inline torch::Tensor Dense(const c10::optional<torch::Tensor>& tensor) {
  return tensor ? Dense(*tensor) : torch::Tensor();
}

}  // namespace lrnn::ops
