// The simple diagonal layer: the recurrence of Figure 1 of Grazzi et al., 2024, with as little around it as possible.
//
//   a_t = sigmoid(10 (W_a x_t + b_a)),   tanh(10 (W_a x_t + b_a)) with allow_neg_eigval
//   h_t = a_t h_{t-1} + (W_b x_t + b_b) x_t        y_t = h_t                   all products element by element
//
// x, y, a, h: [T, D]
// Eigenvalues of the transition: the elements of a, in (0, 1) or, with allow_neg_eigval, (-1, 1). The factor 10 makes
// it easy to come close to both ends.
#pragma once

#include "lrnn/base/rng.h"
#include "lrnn/io/fields.h"
#include "lrnn/layers/linear.h"
#include "lrnn/layers/registry.h"
#include "lrnn/layers/sequence_mixer.h"

namespace lrnn {

class DiagonalImpl : public LinearMixer {
 public:
  DiagonalImpl(const Fields& config, Rng& rng);

  // State: h [N, D].
  torch::Tensor forward(const torch::Tensor& x, const ops::Sequences& sequences, MixerState* state = nullptr) override;
  EigenvalueRange eigenvalue_range() const override;
  torch::Tensor Eigenvalues(const torch::Tensor& x, const ops::Sequences& sequences) override;  // [T, D]
  torch::Tensor Transitions(const torch::Tensor& x, const ops::Sequences& sequences) override;  // [T, D, 1, 1]
  int64_t state_size() const override;
  std::vector<std::string> WithoutWeightDecay() const override;  // the biases

 private:
  bool allow_neg_eigval_;
  Linear a_proj_{nullptr}, b_proj_{nullptr};
};
TORCH_MODULE(Diagonal);

LayerInfo DiagonalInfo();

}  // namespace lrnn
