#include "lrnn/ops/rms_norm.h"

#include <ATen/Parallel.h>

#include "lrnn/base/error.h"
#include "lrnn/kernels/rms_norm.h"
#include "lrnn/ops/arguments.h"

namespace lrnn::ops {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

void CheckArguments(const Tensor& x, const Tensor& weight, double eps) {
  LRNN_CHECK(x.dim() >= 1 && x.is_floating_point(),
             "[rms_norm] expected x of shape [..., D] and a floating type, got [{}] of {}", fmt::join(x.sizes(), ", "),
             c10::toString(x.scalar_type()));
  LRNN_CHECK(weight.dim() == 1 && weight.size(0) == x.size(-1),
             "[rms_norm] expected weight of shape [D] with D = {}, got [{}]", x.size(-1),
             fmt::join(weight.sizes(), ", "));
  ArgumentCheck("rms_norm", "x", x).TypeAndDevice("weight", weight);
  LRNN_CHECK(eps > 0, "[rms_norm] expected eps > 0, got {}", eps);
}

// x as [R, D], the tensor itself if the kernel can read its rows in place.
Tensor Rows(const Tensor& x) {
  if (x.dim() == 2 && x.stride(1) == 1) return x;
  const int64_t D = x.size(-1);
  return x.contiguous().view({D > 0 ? x.numel() / D : 0, D});
}

class RmsNormFunction : public torch::autograd::Function<RmsNormFunction> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& x_any, const Tensor& weight_any, double eps) {
    const Tensor x = Rows(x_any), weight = weight_any.contiguous();
    const Tensor y = x.new_empty(x_any.sizes());
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "rms_norm", [&] {
      kernels::RmsNorm(x.data_ptr<scalar_t>(), x.stride(0), x.size(0), x.size(1), weight.data_ptr<scalar_t>(),
                       static_cast<scalar_t>(eps), y.data_ptr<scalar_t>(), at::get_num_threads());
    });
    context->save_for_backward({x, weight});
    context->saved_data["eps"] = eps;
    return y;
  }

  static tensor_list backward(AutogradContext* context, tensor_list gradients) {
    CheckDifferentiatedOnce("rms_norm", "RmsNormReference");
    const auto saved = context->get_saved_variables();
    const Tensor &x = saved[0], &weight = saved[1];
    const Tensor dy = gradients[0].contiguous();
    const Tensor dx = dy.new_empty(dy.sizes()), dweight = weight.new_empty(weight.sizes());
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "rms_norm", [&] {
      kernels::RmsNormBackward(x.data_ptr<scalar_t>(), x.stride(0), x.size(0), x.size(1), weight.data_ptr<scalar_t>(),
                               static_cast<scalar_t>(context->saved_data["eps"].toDouble()), dy.data_ptr<scalar_t>(),
                               nullptr, dx.data_ptr<scalar_t>(), dweight.data_ptr<scalar_t>(), at::get_num_threads());
    });
    return {dx, dweight, Tensor()};
  }
};

class AddRmsNormFunction : public torch::autograd::Function<AddRmsNormFunction> {
 public:
  static tensor_list forward(AutogradContext* context, const Tensor& x_any, const Tensor& residual_any,
                             const Tensor& weight_any, double eps) {
    const Tensor x = x_any.contiguous(), residual = residual_any.contiguous(), weight = weight_any.contiguous();
    const Tensor sum = x.new_empty(x.sizes()), y = x.new_empty(x.sizes());
    const int64_t D = x.size(-1);
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "rms_norm", [&] {
      kernels::AddRmsNorm(x.data_ptr<scalar_t>(), residual.data_ptr<scalar_t>(), D > 0 ? x.numel() / D : 0, D,
                          weight.data_ptr<scalar_t>(), static_cast<scalar_t>(eps), sum.data_ptr<scalar_t>(),
                          y.data_ptr<scalar_t>(), at::get_num_threads());
    });
    context->save_for_backward({sum, weight});
    context->saved_data["eps"] = eps;
    return {sum, y};
  }

  static tensor_list backward(AutogradContext* context, tensor_list gradients) {
    CheckDifferentiatedOnce("rms_norm", "RmsNormReference");
    const auto saved = context->get_saved_variables();
    const Tensor &sum = saved[0], &weight = saved[1];
    const Tensor dsum = gradients[0].contiguous(), dy = gradients[1].contiguous();
    const Tensor dx = sum.new_empty(sum.sizes()), dweight = weight.new_empty(weight.sizes());
    const int64_t D = sum.size(-1);
    AT_DISPATCH_FLOATING_TYPES(sum.scalar_type(), "rms_norm", [&] {
      kernels::RmsNormBackward(sum.data_ptr<scalar_t>(), D, D > 0 ? sum.numel() / D : 0, D, weight.data_ptr<scalar_t>(),
                               static_cast<scalar_t>(context->saved_data["eps"].toDouble()), dy.data_ptr<scalar_t>(),
                               dsum.data_ptr<scalar_t>(), dx.data_ptr<scalar_t>(), dweight.data_ptr<scalar_t>(),
                               at::get_num_threads());
    });
    return {dx, dx, dweight, Tensor()};
  }
};

}  // namespace

SumAndNorm AddRmsNorm(const Tensor& x, const Tensor& residual, const Tensor& weight, double eps) {
  LRNN_CHECK(residual.sizes() == x.sizes() && residual.scalar_type() == x.scalar_type(),
             "[rms_norm] expected a residual of x's shape [{}] and type {}, got [{}] of {}", fmt::join(x.sizes(), ", "),
             c10::toString(x.scalar_type()), fmt::join(residual.sizes(), ", "), c10::toString(residual.scalar_type()));
  if (!HasKernel(x)) {
    const Tensor sum = x + residual;
    return {sum, RmsNormReference(sum, weight, eps)};
  }
  CheckArguments(x, weight, eps);
  const auto results = AddRmsNormFunction::apply(x, residual, weight, eps);
  return {results[0], results[1]};
}

Tensor RmsNorm(const Tensor& x, const Tensor& weight, double eps) {
  if (!HasKernel(x)) return RmsNormReference(x, weight, eps);
  CheckArguments(x, weight, eps);
  return RmsNormFunction::apply(x, weight, eps);
}

Tensor RmsNormReference(const Tensor& x, const Tensor& weight, double eps) {
  CheckArguments(x, weight, eps);
  return x * torch::rsqrt(x.square().mean(-1, /*keepdim=*/true) + eps) * weight;
}

}  // namespace lrnn::ops
