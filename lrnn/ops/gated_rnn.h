// The gated non-linear RNNs sLSTM and LSTM on tensors with autograd.
//
//   g_t = x_t + bias + y_{t-1} R        y_t, s_t = cell(g_t, s_{t-1})
//
//   Slstm, gates i~, f~, z~, o~, s = (c, n, m):
//     m' = max(i~, log sigmoid(f~) + m)    i = e^(i~ - m')    f = e^(log sigmoid(f~) + m - m')
//     c' = f c + i tanh(z~)    n' = f n + i    y = sigmoid(o~) c' / n';    n = 0 is no past: m' = i~, f = 0
//   Lstm, gates i~, f~, g~, o~, s = c:
//     c' = sigmoid(f~) c + sigmoid(i~) tanh(g~)    y = sigmoid(o~) tanh(c')
//
// x: [T, H, 4, K]   R: [H, K, 4, K], from unit to gate   bias: [H, 4, K]   y: [T, H, K]
// state: [N, S, H, K]: y, c, n, m (S = 4) or y, c (S = 2). A sequence starts from its row of initial_state (zeros
// without one) and ends in its row of final_state; both carry gradients. Derivation: docs/math/slstm.md.
#pragma once

#include "lrnn/ops/sequences.h"
#include "lrnn/ops/torch.h"

namespace lrnn::ops {

struct GatedRnnResult {
  torch::Tensor y;            // [T, H, K]
  torch::Tensor final_state;  // [N, S, H, K]; undefined unless asked for
};

struct GatedRnnOptions {
  bool return_final_state = false;
};

// The ones to call: they check their arguments, then run the fused kernel on CPU tensors of float or double and the
// ATen form on all others. The kernel supports one differentiation. An x of any strides whose last two dimensions are
// contiguous is taken as it is.
GatedRnnResult Slstm(const torch::Tensor& x, const torch::Tensor& R, const torch::Tensor& bias,
                     const GatedRnnOptions& options, const Sequences& sequences,
                     const c10::optional<torch::Tensor>& initial_state = c10::nullopt);
GatedRnnResult Lstm(const torch::Tensor& x, const torch::Tensor& R, const torch::Tensor& bias,
                    const GatedRnnOptions& options, const Sequences& sequences,
                    const c10::optional<torch::Tensor>& initial_state = c10::nullopt);

// Plain ATen, one step of all sequences at a time: any device, any floating type, differentiable any number of times.
GatedRnnResult SlstmAten(const torch::Tensor& x, const torch::Tensor& R, const torch::Tensor& bias,
                         const GatedRnnOptions& options, const Sequences& sequences,
                         const c10::optional<torch::Tensor>& initial_state = c10::nullopt);
GatedRnnResult LstmAten(const torch::Tensor& x, const torch::Tensor& R, const torch::Tensor& bias,
                        const GatedRnnOptions& options, const Sequences& sequences,
                        const c10::optional<torch::Tensor>& initial_state = c10::nullopt);

// The recurrences as they stand above, sequence by sequence, token by token: what the others are tested against.
GatedRnnResult SlstmReference(const torch::Tensor& x, const torch::Tensor& R, const torch::Tensor& bias,
                              const GatedRnnOptions& options, const Sequences& sequences,
                              const c10::optional<torch::Tensor>& initial_state = c10::nullopt);
GatedRnnResult LstmReference(const torch::Tensor& x, const torch::Tensor& R, const torch::Tensor& bias,
                             const GatedRnnOptions& options, const Sequences& sequences,
                             const c10::optional<torch::Tensor>& initial_state = c10::nullopt);

}  // namespace lrnn::ops
