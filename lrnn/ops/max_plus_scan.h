// A linear recurrence of maxima and sums over packed sequences: the stabiliser of exponential gates.
//
//   m_t = max(a_t + m_{t-1}, b_t)        a, b, m: [T, H]   m before each sequence: [N, H], or 0
//
// With a = log|forget gate| and b = the argument of the exponential input gate, exp(a_t + m_{t-1} - m_t) and
// exp(b_t - m_t) are never above 1. -inf is a valid a and b. No gradient flows through m: what is scaled by exp(-m) is
// scaled back, and does not depend on it.
#pragma once

#include "lrnn/ops/sequences.h"
#include "lrnn/ops/torch.h"

namespace lrnn::ops {

struct MaxPlusScanResult {
  torch::Tensor before;  // [T, H] m_{t-1}
  torch::Tensor m;       // [T, H] m_t
  torch::Tensor final;   // [N, H]
};

// On the CPU, whatever device the tensors are on.
MaxPlusScanResult MaxPlusScan(const torch::Tensor& a, const torch::Tensor& b, const Sequences& sequences,
                              const c10::optional<torch::Tensor>& initial = c10::nullopt);

}  // namespace lrnn::ops
