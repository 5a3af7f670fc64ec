#include "lrnn/ops/cross_entropy.h"

#include <ATen/Parallel.h>

#include <cmath>

#include "lrnn/base/error.h"
#include "lrnn/kernels/cross_entropy.h"
#include "lrnn/ops/arguments.h"

namespace lrnn::ops {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

void CheckArguments(const Tensor& logits, const Tensor& targets, double smoothing) {
  LRNN_CHECK(logits.dim() == 2 && logits.size(0) > 0 && logits.size(1) > 0 && logits.is_floating_point(),
             "[cross_entropy] expected logits of shape [R, V], not empty, and a floating type, got [{}] of {}",
             fmt::join(logits.sizes(), ", "), c10::toString(logits.scalar_type()));
  LRNN_CHECK(targets.dim() == 1 && targets.size(0) == logits.size(0) && targets.scalar_type() == torch::kInt64,
             "[cross_entropy] expected targets of shape [{}] and type Long, got [{}] of {}", logits.size(0),
             fmt::join(targets.sizes(), ", "), c10::toString(targets.scalar_type()));
  LRNN_CHECK(smoothing >= 0 && smoothing < 1, "[cross_entropy] expected smoothing in [0, 1), got {}", smoothing);
}

class CrossEntropyFunction : public torch::autograd::Function<CrossEntropyFunction> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& logits_any, const Tensor& targets_any,
                        double smoothing) {
    const Tensor logits = logits_any.contiguous(), targets = targets_any.contiguous();
    const int64_t R = logits.size(0), V = logits.size(1);
    const bool wants_gradient = logits_any.requires_grad();
    const Tensor losses = logits.new_empty({R});
    const Tensor dlogits = wants_gradient ? logits.new_empty({R, V}) : Tensor();
    AT_DISPATCH_FLOATING_TYPES(logits.scalar_type(), "cross_entropy", [&] {
      kernels::CrossEntropy(logits.data_ptr<scalar_t>(), targets.data_ptr<int64_t>(), R, V,
                            static_cast<scalar_t>(smoothing), scalar_t(1) / static_cast<scalar_t>(R),
                            losses.data_ptr<scalar_t>(), wants_gradient ? dlogits.data_ptr<scalar_t>() : nullptr,
                            at::get_num_threads());
    });
    if (wants_gradient) context->save_for_backward({dlogits});
    return losses.mean();
  }

  static tensor_list backward(AutogradContext* context, tensor_list gradients) {
    CheckDifferentiatedOnce("cross_entropy", "CrossEntropyReference");
    return {context->get_saved_variables()[0] * gradients[0], Tensor(), Tensor()};
  }
};

}  // namespace

Tensor CrossEntropy(const Tensor& logits, const Tensor& targets, double smoothing) {
  if (!HasKernel(logits)) return CrossEntropyReference(logits, targets, smoothing);
  CheckArguments(logits, targets, smoothing);
  LRNN_CHECK(targets.min().item<int64_t>() >= 0 && targets.max().item<int64_t>() < logits.size(1),
             "[cross_entropy] expected targets in 0 .. {}, got {} .. {}", logits.size(1) - 1,
             targets.min().item<int64_t>(), targets.max().item<int64_t>());
  return CrossEntropyFunction::apply(logits, targets, smoothing);
}

Tensor CrossEntropyReference(const Tensor& logits, const Tensor& targets, double smoothing) {
  CheckArguments(logits, targets, smoothing);
  return torch::cross_entropy_loss(logits, targets, /*weight=*/{}, at::Reduction::Mean, /*ignore_index=*/-100,
                                   smoothing);
}

double LeastCrossEntropy(double smoothing, int64_t V) {
  const double other = smoothing / static_cast<double>(V), right = 1 - smoothing + other;
  const auto surprise = [](double p) { return p > 0 ? -p * std::log(p) : 0.0; };
  return surprise(right) + static_cast<double>(V - 1) * surprise(other);
}

}  // namespace lrnn::ops
