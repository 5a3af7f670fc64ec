// y = x W^T (+ bias): the one place that chooses who multiplies matrices.
//
// On the CPU in single precision oneDNN does, faster than the BLAS behind torch for the tall, narrow products of these
// models (docs/performance.md); everything else is torch's own linear.
#pragma once

#include "lrnn/ops/torch.h"

namespace lrnn::ops {

// The type of y: the weight's, or that in which it was multiplied (RoundLinearToBf16 below).
enum class LinearOutput { kLikeWeight, kAsMultiplied };

// x: [..., in], weight: [out, in], bias: [out] or undefined -> [..., out]
torch::Tensor Linear(const torch::Tensor& x, const torch::Tensor& weight, const torch::Tensor& bias = {},
                     LinearOutput output = LinearOutput::kLikeWeight);

// The products of one x with several weights, which stand below each other in `weight`, widths[i] rows each: [...,
// widths[i]], each contiguous, so that neither they nor their gradients are copied into or out of one wide matrix.
std::vector<torch::Tensor> LinearParts(const torch::Tensor& x, const torch::Tensor& weight,
                                       const std::vector<int64_t>& widths,
                                       LinearOutput output = LinearOutput::kLikeWeight);

// While one lives, Linear on this thread gives what torch's autocast to bf16 would: x, weight and bias are rounded to
// bf16, products are summed in fp32, and y is rounded to bf16; gradients come of y's gradient rounded to bf16. The
// types of all tensors stay as they are, and what is not a product of matrices is touched only by RoundedLikeLinear. A
// CPU that multiplies bf16 numbers does (bf16_product.h), in half the time; others multiply the rounded numbers in
// fp32. Where it does, kAsMultiplied leaves y a bf16 tensor, which another Linear takes: what lies between the two then
// moves half the bytes, and its gradient is rounded to bf16 as y is.
class RoundLinearToBf16 {
 public:
  explicit RoundLinearToBf16(bool on);
  ~RoundLinearToBf16();
  RoundLinearToBf16(const RoundLinearToBf16&) = delete;
  RoundLinearToBf16& operator=(const RoundLinearToBf16&) = delete;

 private:
  bool before_;
};

// x, rounded to bf16 while a RoundLinearToBf16 lives: for gates. Autocast computes the sigmoid of a bf16 number in
// bf16, where it is 1 exactly from 6.24 on, and so 2 sigmoid(z) makes exact reflections.
torch::Tensor RoundedLikeLinear(const torch::Tensor& x);

}  // namespace lrnn::ops
