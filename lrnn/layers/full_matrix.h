// The full matrix layer: a linear RNN whose transition is any matrix, made from the input.
//
//   A_t = (W_A x_t + b_A) / sqrt(D),   B_t = (W_B x_t + b_B) / sqrt(D)         as D x D matrices
//   h_t = A_t h_{t-1} + B_t x_t        y_t = h_t
//
// x, y, h: [T, D]   W_A, W_B: [D D, D]
// Nothing bounds the eigenvalues of the transition, and every token costs D^2 numbers twice: a baseline that shows what
// structured transitions give up, for small D (Grazzi et al., 2024).
#pragma once

#include "lrnn/base/rng.h"
#include "lrnn/io/fields.h"
#include "lrnn/layers/linear.h"
#include "lrnn/layers/registry.h"
#include "lrnn/layers/sequence_mixer.h"

namespace lrnn {

class FullMatrixImpl : public LinearMixer {
 public:
  FullMatrixImpl(const Fields& config, Rng& rng);

  // State: h [N, D, 1].
  torch::Tensor forward(const torch::Tensor& x, const ops::Sequences& sequences, MixerState* state = nullptr) override;
  EigenvalueRange eigenvalue_range() const override;
  torch::Tensor Eigenvalues(const torch::Tensor& x, const ops::Sequences& sequences) override;  // [T, D], complex
  torch::Tensor Transitions(const torch::Tensor& x, const ops::Sequences& sequences) override;  // [T, 1, D, D]
  int64_t state_size() const override { return width_; }
  std::vector<std::string> WithoutWeightDecay() const override;  // the biases

 private:
  torch::Tensor Matrices(Linear layer, const torch::Tensor& x) const;  // [T, D, D]

  int64_t width_;
  Linear a_proj_{nullptr}, b_proj_{nullptr};
};
TORCH_MODULE(FullMatrix);

LayerInfo FullMatrixInfo();

}  // namespace lrnn
