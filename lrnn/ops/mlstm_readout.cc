#include "lrnn/ops/mlstm_readout.h"

#include <ATen/Parallel.h>

#include "lrnn/base/error.h"
#include "lrnn/kernels/mlstm_readout.h"
#include "lrnn/ops/arguments.h"

namespace lrnn::ops {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

void CheckArguments(const Tensor& o, const Tensor& m, const Tensor& x, const Tensor& z, const Tensor& weight,
                    const Tensor& skip) {
  LRNN_CHECK(o.dim() == 3 && o.size(2) >= 2, "[mlstm_readout] expected o of shape [T, H, K + 1], got [{}]",
             fmt::join(o.sizes(), ", "));
  const ArgumentCheck check("mlstm_readout", "o", o);
  const int64_t T = o.size(0), H = o.size(1), I = H * (o.size(2) - 1);
  check.Shape("m", m, "[T, H]", {T, H});
  check.Shape("x", x, "[T, H K]", {T, I});
  check.Shape("z", z, "[T, H K]", {T, I});
  check.Shape("weight", weight, "[H K]", {I});
  check.Shape("skip", skip, "[H K]", {I});
}

kernels::MlstmReadoutShape ShapeOf(const Tensor& o) { return {o.size(0), o.size(1), o.size(2) - 1}; }

// Of o, m, x, z, weight and skip.
template <typename T>
kernels::MlstmReadoutInputs<T> InputsOf(const tensor_list& in, double eps) {
  return {Data<T>(in[0]), Data<T>(in[1]), Data<T>(in[2]),     Data<T>(in[3]),
          Data<T>(in[4]), Data<T>(in[5]), static_cast<T>(eps)};
}

class MlstmReadoutFunction : public torch::autograd::Function<MlstmReadoutFunction> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& o, const Tensor& m, const Tensor& x, const Tensor& z,
                        const Tensor& weight, const Tensor& skip, double eps) {
    const tensor_list in{o.contiguous(), m.contiguous(),      x.contiguous(),
                         z.contiguous(), weight.contiguous(), skip.contiguous()};
    const Tensor y = x.new_empty(x.sizes());
    AT_DISPATCH_FLOATING_TYPES(o.scalar_type(), "mlstm_readout", [&] {
      kernels::MlstmReadout(ShapeOf(o), InputsOf<scalar_t>(in, eps), Data<scalar_t>(y), at::get_num_threads());
    });
    context->save_for_backward(in);
    context->saved_data["eps"] = eps;
    return y;
  }

  static tensor_list backward(AutogradContext* context, tensor_list gradients) {
    CheckDifferentiatedOnce("mlstm_readout", "MlstmReadoutReference");
    const tensor_list in = context->get_saved_variables();
    const Tensor dy = gradients[0].contiguous(), d_o = torch::empty_like(in[0]), dx = torch::empty_like(in[2]),
                 dz = torch::empty_like(in[3]), dweight = torch::empty_like(in[4]), dskip = torch::empty_like(in[5]);
    AT_DISPATCH_FLOATING_TYPES(dy.scalar_type(), "mlstm_readout", [&] {
      kernels::MlstmReadoutBackward(
          ShapeOf(in[0]), InputsOf<scalar_t>(in, context->saved_data["eps"].toDouble()),
          static_cast<const scalar_t*>(Data<scalar_t>(dy)),
          {Data<scalar_t>(d_o), Data<scalar_t>(dx), Data<scalar_t>(dz), Data<scalar_t>(dweight), Data<scalar_t>(dskip)},
          at::get_num_threads());
    });
    return {d_o, Tensor(), dx, dz, dweight, dskip, Tensor()};
  }
};

}  // namespace

Tensor MlstmReadout(const Tensor& o, const Tensor& m, const Tensor& x, const Tensor& z, const Tensor& weight,
                    const Tensor& skip, double eps) {
  if (!HasKernel(o)) return MlstmReadoutReference(o, m, x, z, weight, skip, eps);
  CheckArguments(o, m, x, z, weight, skip);
  return MlstmReadoutFunction::apply(o, m, x, z, weight, skip, eps);
}

Tensor MlstmReadoutReference(const Tensor& o, const Tensor& m, const Tensor& x, const Tensor& z, const Tensor& weight,
                             const Tensor& skip, double eps) {
  CheckArguments(o, m, x, z, weight, skip);
  const int64_t K = o.size(2) - 1;
  const auto parts = o.split_with_sizes({K, 1}, 2);
  const Tensor floor = torch::exp(-m.detach()).unsqueeze(2);
  const Tensor h = parts[0] / (torch::maximum(parts[1].abs(), floor) + 1e-6);
  const Tensor normed = torch::layer_norm(h, {K}, {}, {}, eps).reshape(x.sizes()) * (1 + weight);
  return (normed + skip * x) * torch::silu(z);
}

}  // namespace lrnn::ops
