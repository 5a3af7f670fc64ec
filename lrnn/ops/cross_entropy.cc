#include "lrnn/ops/cross_entropy.h"

#include <ATen/Parallel.h>

#include "lrnn/base/error.h"
#include "lrnn/kernels/cross_entropy.h"
#include "lrnn/ops/arguments.h"

namespace lrnn::ops {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

void CheckArguments(const Tensor& logits, const Tensor& targets) {
  LRNN_CHECK(logits.dim() == 2 && logits.size(0) > 0 && logits.size(1) > 0 && logits.is_floating_point(),
             "[cross_entropy] expected logits of shape [R, V], not empty, and a floating type, got [{}] of {}",
             fmt::join(logits.sizes(), ", "), c10::toString(logits.scalar_type()));
  LRNN_CHECK(targets.dim() == 1 && targets.size(0) == logits.size(0) && targets.scalar_type() == torch::kInt64,
             "[cross_entropy] expected targets of shape [{}] and type Long, got [{}] of {}", logits.size(0),
             fmt::join(targets.sizes(), ", "), c10::toString(targets.scalar_type()));
}

class CrossEntropyFunction : public torch::autograd::Function<CrossEntropyFunction> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& logits_any, const Tensor& targets_any) {
    const Tensor logits = logits_any.contiguous(), targets = targets_any.contiguous();
    const int64_t R = logits.size(0), V = logits.size(1);
    const bool wants_gradient = logits_any.requires_grad();
    const Tensor losses = logits.new_empty({R});
    const Tensor dlogits = wants_gradient ? logits.new_empty({R, V}) : Tensor();
    AT_DISPATCH_FLOATING_TYPES(logits.scalar_type(), "cross_entropy", [&] {
      kernels::CrossEntropy(logits.data_ptr<scalar_t>(), targets.data_ptr<int64_t>(), R, V,
                            scalar_t(1) / static_cast<scalar_t>(R), losses.data_ptr<scalar_t>(),
                            wants_gradient ? dlogits.data_ptr<scalar_t>() : nullptr, at::get_num_threads());
    });
    if (wants_gradient) context->save_for_backward({dlogits});
    return losses.mean();
  }

  static tensor_list backward(AutogradContext* context, tensor_list gradients) {
    CheckDifferentiatedOnce("cross_entropy", "CrossEntropyReference");
    return {context->get_saved_variables()[0] * gradients[0], Tensor()};
  }
};

}  // namespace

Tensor CrossEntropy(const Tensor& logits, const Tensor& targets) {
  if (!HasKernel(logits)) return CrossEntropyReference(logits, targets);
  CheckArguments(logits, targets);
  LRNN_CHECK(targets.min().item<int64_t>() >= 0 && targets.max().item<int64_t>() < logits.size(1),
             "[cross_entropy] expected targets in 0 .. {}, got {} .. {}", logits.size(1) - 1,
             targets.min().item<int64_t>(), targets.max().item<int64_t>());
  return CrossEntropyFunction::apply(logits, targets);
}

Tensor CrossEntropyReference(const Tensor& logits, const Tensor& targets) {
  CheckArguments(logits, targets);
  return torch::cross_entropy_loss(logits, targets);
}

}  // namespace lrnn::ops
