#include "lrnn/ops/swiglu.h"

#include <ATen/Parallel.h>

#include "lrnn/base/error.h"
#include "lrnn/kernels/swiglu.h"
#include "lrnn/ops/arguments.h"

namespace lrnn::ops {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

void CheckArgument(const Tensor& gate_up) {
  LRNN_CHECK(gate_up.dim() >= 1 && gate_up.size(-1) % 2 == 0 && gate_up.is_floating_point(),
             "[swiglu] expected gate and up of shape [..., 2 D] and a floating type, got [{}] of {}",
             fmt::join(gate_up.sizes(), ", "), c10::toString(gate_up.scalar_type()));
}

// What the kernels call a type of torch's.
template <typename T>
T* Numbers(const Tensor& x, T* /*type*/) {
  return x.data_ptr<T>();
}
hwy::bfloat16_t* Numbers(const Tensor& x, c10::BFloat16* /*type*/) {
  return reinterpret_cast<hwy::bfloat16_t*>(x.data_ptr<c10::BFloat16>());
}

class SwiGluFunction : public torch::autograd::Function<SwiGluFunction> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& any) {
    const Tensor gate_up = any.contiguous();
    std::vector<int64_t> shape = gate_up.sizes().vec();
    const int64_t D = shape.back() /= 2;
    const Tensor y = gate_up.new_empty(shape);
    AT_DISPATCH_FLOATING_TYPES_AND(torch::kBFloat16, gate_up.scalar_type(), "swiglu", [&] {
      scalar_t* const type = nullptr;
      kernels::SwiGlu(Numbers(gate_up, type), D > 0 ? y.numel() / D : 0, D, Numbers(y, type), at::get_num_threads());
    });
    context->save_for_backward({gate_up});
    return y;
  }

  static tensor_list backward(AutogradContext* context, tensor_list gradients) {
    CheckDifferentiatedOnce("swiglu", "SwiGluReference");
    const Tensor gate_up = context->get_saved_variables()[0], dy = gradients[0].contiguous();
    const int64_t D = dy.size(-1);
    const Tensor dgate_up = gate_up.new_empty(gate_up.sizes());
    AT_DISPATCH_FLOATING_TYPES_AND(torch::kBFloat16, gate_up.scalar_type(), "swiglu", [&] {
      scalar_t* const type = nullptr;
      kernels::SwiGluBackward(Numbers(gate_up, type), D > 0 ? dy.numel() / D : 0, D, Numbers(dy, type),
                              Numbers(dgate_up, type), at::get_num_threads());
    });
    return {dgate_up};
  }
};

}  // namespace

Tensor SwiGlu(const Tensor& gate_up) {
  const bool is_bf16 = gate_up.is_cpu() && gate_up.scalar_type() == torch::kBFloat16;
  if (!is_bf16 && !HasKernel(gate_up)) return SwiGluReference(gate_up);
  CheckArgument(gate_up);
  return SwiGluFunction::apply(gate_up);
}

Tensor SwiGluReference(const Tensor& gate_up) {
  CheckArgument(gate_up);
  const auto halves = gate_up.chunk(2, -1);
  return torch::silu(halves[0]) * halves[1];
}

}  // namespace lrnn::ops
