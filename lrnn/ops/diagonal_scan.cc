#include "lrnn/ops/diagonal_scan.h"

#include <ATen/Parallel.h>

#include "lrnn/base/error.h"
#include "lrnn/kernels/diagonal_scan.h"
#include "lrnn/ops/arguments.h"
#include "lrnn/ops/scan_steps.h"

namespace lrnn::ops {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

class DiagonalScanFunction : public torch::autograd::Function<DiagonalScanFunction> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& a_any, const Tensor& b_any,
                        const c10::optional<Tensor>& initial_any, const Sequences& sequences) {
    const Tensor a = a_any.contiguous(), b = b_any.contiguous(), h = torch::empty_like(b);
    const Tensor initial = Dense(initial_any);
    AT_DISPATCH_FLOATING_TYPES(a.scalar_type(), "diagonal_scan", [&] {
      kernels::DiagonalScan({sequences.count(), sequences.data(), a.size(1)}, Data<scalar_t>(a), Data<scalar_t>(b),
                            static_cast<const scalar_t*>(Data<scalar_t>(initial)), Data<scalar_t>(h),
                            at::get_num_threads());
    });
    context->save_for_backward({a, initial, h});
    context->saved_data["cu_seqlens"] = torch::tensor(sequences.cu_seqlens(), torch::kInt32);
    return h;
  }

  static tensor_list backward(AutogradContext* context, tensor_list d_outputs) {
    CheckDifferentiatedOnce("diagonal_scan", "DiagonalScanAten");
    const auto saved = context->get_saved_variables();
    const Tensor &a = saved[0], &initial = saved[1], &h = saved[2], d_h = d_outputs[0].contiguous();
    const Tensor cu_seqlens = context->saved_data["cu_seqlens"].toTensor();
    const Tensor d_a = torch::empty_like(a), d_b = torch::empty_like(a);
    const Tensor d_initial = initial.defined() ? torch::empty_like(initial) : Tensor();
    AT_DISPATCH_FLOATING_TYPES(a.scalar_type(), "diagonal_scan", [&] {
      kernels::DiagonalScanBackward({cu_seqlens.numel() - 1, cu_seqlens.data_ptr<int32_t>(), a.size(1)},
                                    Data<scalar_t>(a), static_cast<const scalar_t*>(Data<scalar_t>(initial)),
                                    Data<scalar_t>(h), Data<scalar_t>(d_h), Data<scalar_t>(d_a), Data<scalar_t>(d_b),
                                    Data<scalar_t>(d_initial), at::get_num_threads());
    });
    return {d_a, d_b, d_initial, Tensor()};
  }
};

}  // namespace

Tensor DiagonalScan(const Tensor& a, const Tensor& b, const Sequences& sequences,
                    const c10::optional<Tensor>& initial) {
  const int64_t T = sequences.tokens();
  LRNN_CHECK(a.dim() == 2 && a.size(0) == T, "[diagonal_scan] expected a of shape [T, D] with T = {}, got [{}]", T,
             fmt::join(a.sizes(), ", "));
  const ArgumentCheck check("diagonal_scan", "a", a);
  check.Shape("b", b, "[T, D]", {T, a.size(1)});
  check.Shape("initial", initial, "[N, D]", {sequences.count(), a.size(1)});
  if (!HasKernel(a)) return DiagonalScanAten(a, b, sequences, initial);
  return DiagonalScanFunction::apply(a, b, initial, sequences);
}

Tensor DiagonalScanAten(const Tensor& a, const Tensor& b, const Sequences& sequences,
                        const c10::optional<Tensor>& initial) {
  const StepOrder order(sequences);
  const auto as = order.Split(a), bs = order.Split(b);
  return ScanSteps(initial ? *initial : a.new_zeros({sequences.count(), a.size(1)}), order,
                   [&](int64_t t, const Tensor& states) { return as[t] * states + bs[t]; });
}

Tensor DiagonalScanReference(const Tensor& a, const Tensor& b, const Sequences& sequences,
                             const c10::optional<Tensor>& initial) {
  std::vector<Tensor> states{a.new_empty({0, a.size(1)})};
  for (int64_t i = 0; i < sequences.count(); ++i) {
    Tensor h = initial ? (*initial)[i] : a.new_zeros({a.size(1)});
    for (int64_t t = sequences.begin(i); t < sequences.end(i); ++t) {
      h = a[t] * h + b[t];
      states.push_back(h.unsqueeze(0));
    }
  }
  return torch::cat(states);
}

}  // namespace lrnn::ops
