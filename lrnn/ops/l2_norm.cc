#include "lrnn/ops/l2_norm.h"

#include <ATen/Parallel.h>

#include "lrnn/base/error.h"
#include "lrnn/kernels/l2_norm.h"
#include "lrnn/ops/arguments.h"

namespace lrnn::ops {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

void CheckArguments(const Tensor& x, double eps) {
  LRNN_CHECK(x.dim() >= 1 && x.is_floating_point(),
             "[l2_norm] expected x of shape [..., D] and a floating type, got [{}] of {}", fmt::join(x.sizes(), ", "),
             c10::toString(x.scalar_type()));
  LRNN_CHECK(eps > 0, "[l2_norm] expected eps > 0, got {}", eps);
}

// The tensor itself if the kernel can read its rows in place: [D], [R, D] or [T, H, D] with a contiguous last
// dimension.
Tensor Readable(const Tensor& x) { return x.dim() <= 3 && x.stride(-1) == 1 ? x : x.contiguous(); }

template <typename Real>
kernels::StridedRows<Real> RowsOf(const Tensor& x) {
  const Real* data = x.data_ptr<Real>();
  const int64_t D = x.size(-1);
  if (x.dim() == 3) return {data, x.size(0), x.size(1), x.stride(0), x.stride(1)};
  if (x.dim() == 2) return {data, x.size(0), 1, x.stride(0), 0};
  return kernels::StridedRows<Real>::Contiguous(data, D > 0 ? x.numel() / D : 0, D);
}

class L2NormFunction : public torch::autograd::Function<L2NormFunction> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& x_any, double eps) {
    const Tensor x = Readable(x_any);
    const Tensor y = x.new_empty(x.sizes());
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "l2_norm", [&] {
      kernels::L2Norm(RowsOf<scalar_t>(x), x.size(-1), static_cast<scalar_t>(eps), y.data_ptr<scalar_t>(),
                      at::get_num_threads());
    });
    context->save_for_backward({x});
    context->saved_data["eps"] = eps;
    return y;
  }

  static tensor_list backward(AutogradContext* context, tensor_list gradients) {
    CheckDifferentiatedOnce("l2_norm", "L2NormReference");
    const Tensor x = context->get_saved_variables()[0];
    const Tensor dy = gradients[0].contiguous();
    const Tensor dx = dy.new_empty(dy.sizes());
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "l2_norm", [&] {
      kernels::L2NormBackward(RowsOf<scalar_t>(x), x.size(-1),
                              static_cast<scalar_t>(context->saved_data["eps"].toDouble()), dy.data_ptr<scalar_t>(),
                              dx.data_ptr<scalar_t>(), at::get_num_threads());
    });
    return {dx, Tensor()};
  }
};

}  // namespace

Tensor L2Norm(const Tensor& x, double eps) {
  if (!HasKernel(x)) return L2NormReference(x, eps);
  CheckArguments(x, eps);
  return L2NormFunction::apply(x, eps);
}

Tensor L2NormReference(const Tensor& x, double eps) {
  CheckArguments(x, eps);
  return x * torch::rsqrt(x.square().sum(-1, /*keepdim=*/true) + eps);
}

}  // namespace lrnn::ops
