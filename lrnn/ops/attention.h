// Causal softmax attention over packed sequences, on tensors with autograd.
//
//   o_i = sum over j <= i of p_ij v_j        p_i = softmax over j <= i of scale q_i . k_j
//
// q: [T, H, K]   k: [S, H, K]   v: [S, H, V]   o: [T, H, V]
// `queries` are the sequences of q, `keys` those of k and v, each at least as long. Of each sequence the last keys are
// those of its queries, and the ones before them a past that every query sees.
#pragma once

#include "lrnn/ops/sequences.h"
#include "lrnn/ops/torch.h"

namespace lrnn::ops {

// The one to call: checks its arguments, then runs the fused kernel, which never holds more than a block of
// probabilities, on CPU tensors of float or double and the ATen form on all others. The kernel supports one
// differentiation.
torch::Tensor Attention(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v, double scale,
                        const Sequences& queries, const Sequences& keys);

// Plain ATen, sequence by sequence, with all probabilities of a sequence in memory: any device, any floating type,
// differentiable any number of times.
torch::Tensor AttentionAten(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v, double scale,
                            const Sequences& queries, const Sequences& keys);

// The equation as it stands above, query by query: what the other two are tested against.
torch::Tensor AttentionReference(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v, double scale,
                                 const Sequences& queries, const Sequences& keys);

}  // namespace lrnn::ops
