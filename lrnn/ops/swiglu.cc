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

class SwiGluFunction : public torch::autograd::Function<SwiGluFunction> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& any) {
    const Tensor gate_up = any.contiguous();
    std::vector<int64_t> shape = gate_up.sizes().vec();
    const int64_t D = shape.back() /= 2;
    const Tensor y = gate_up.new_empty(shape);
    AT_DISPATCH_FLOATING_TYPES(gate_up.scalar_type(), "swiglu", [&] {
      kernels::SwiGlu(gate_up.data_ptr<scalar_t>(), D > 0 ? y.numel() / D : 0, D, y.data_ptr<scalar_t>(),
                      at::get_num_threads());
    });
    context->save_for_backward({gate_up});
    return y;
  }

  static tensor_list backward(AutogradContext* context, tensor_list gradients) {
    CheckDifferentiatedOnce("swiglu", "SwiGluReference");
    const Tensor gate_up = context->get_saved_variables()[0], dy = gradients[0].contiguous();
    const int64_t D = dy.size(-1);
    const Tensor dgate_up = gate_up.new_empty(gate_up.sizes());
    AT_DISPATCH_FLOATING_TYPES(gate_up.scalar_type(), "swiglu", [&] {
      kernels::SwiGluBackward(gate_up.data_ptr<scalar_t>(), D > 0 ? dy.numel() / D : 0, D, dy.data_ptr<scalar_t>(),
                              dgate_up.data_ptr<scalar_t>(), at::get_num_threads());
    });
    return {dgate_up};
  }
};

}  // namespace

Tensor SwiGlu(const Tensor& gate_up) {
  if (!HasKernel(gate_up)) return SwiGluReference(gate_up);
  CheckArgument(gate_up);
  return SwiGluFunction::apply(gate_up);
}

Tensor SwiGluReference(const Tensor& gate_up) {
  CheckArgument(gate_up);
  const auto halves = gate_up.chunk(2, -1);
  return torch::silu(halves[0]) * halves[1];
}

}  // namespace lrnn::ops
