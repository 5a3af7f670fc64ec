// The full matrix baseline of the paper's word problems (Grazzi et al., 2024, appendix E.3): each token of the
// vocabulary has a matrix of its own, and the state is the product of those seen so far.
//
//   H_t = A[token_t] H_{t-1},   H_0 = I        y_t = W_o flat(H_t) / max(1, |H_t|)
//
// A: [vocabulary, n, n]   H: [n, n]   W_o: [D, n n]   y: [T, D]
// What W_o sees is projected on the unit ball. Nothing bounds the eigenvalues of A; with n >= 5 every group of
// permutations of five points has its matrices. The input x is not used: the layer reads the tokens themselves.
#pragma once

#include "lrnn/base/rng.h"
#include "lrnn/io/fields.h"
#include "lrnn/layers/linear.h"
#include "lrnn/layers/registry.h"
#include "lrnn/layers/sequence_mixer.h"

namespace lrnn {

class TokenMatrixImpl : public LinearMixer {
 public:
  TokenMatrixImpl(const Fields& config, Rng& rng);

  // State: H [N, n, n]. The sequences must know their tokens (Sequences::WithIds).
  torch::Tensor forward(const torch::Tensor& x, const ops::Sequences& sequences, MixerState* state = nullptr) override;
  EigenvalueRange eigenvalue_range() const override;
  torch::Tensor Eigenvalues(const torch::Tensor& x, const ops::Sequences& sequences) override;  // [T, n], complex
  torch::Tensor Transitions(const torch::Tensor& x, const ops::Sequences& sequences) override;  // [T, 1, n, n]
  int64_t state_size() const override { return size_ * size_; }

 private:
  int64_t size_;     // n
  torch::Tensor A_;  // [vocabulary, n, n]
  Linear o_proj_{nullptr};
};
TORCH_MODULE(TokenMatrix);

LayerInfo TokenMatrixInfo();

}  // namespace lrnn
