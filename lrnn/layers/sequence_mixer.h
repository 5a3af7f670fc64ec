// SequenceMixer: what mixes information over time in a block. A linear RNN is
//
//   H_t = A(x_t) H_{t-1} + B(x_t)        y_t = dec(H_t, x_t)
//
// and how far it can track state depends on the eigenvalues of A: a mixer declares the range they lie in and can show
// them.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <vector>

#include "lrnn/ops/sequences.h"

namespace lrnn {

struct EigenvalueRange {
  double low;
  double high;
};

// What a mixer remembers between tokens: one tensor per kind of memory (convolution inputs, H, ...), each [N, ...] for
// N sequences. Empty means that nothing was seen yet.
using MixerState = std::vector<torch::Tensor>;

class SequenceMixer : public torch::nn::Module {
 public:
  // x, y: [T, D]. Without `state` every sequence starts from nothing and its end is forgotten; with it, sequences go on
  // from *state, which is then replaced by where they end. forward(whole) equals forward(first part), forward(rest).
  virtual torch::Tensor forward(const torch::Tensor& x, const ops::Sequences& sequences,
                                MixerState* state = nullptr) = 0;

  // Where the eigenvalues of A lie, for any input and any weights.
  virtual EigenvalueRange eigenvalue_range() const = 0;

  // Those eigenvalues of A(x_t) that depend on the input: [T, ...]. (A Householder layer has K - 1 more that are
  // always 1.)
  virtual torch::Tensor Eigenvalues(const torch::Tensor& x, const ops::Sequences& sequences) = 0;

  // A(x_t) itself, dense: [T, blocks, n, n], a block for each independent part of the state (head, channel). For small
  // sizes.
  virtual torch::Tensor Transitions(const torch::Tensor& x, const ops::Sequences& sequences) = 0;

  // How many numbers one sequence's state holds.
  virtual int64_t state_size() const = 0;

  // Whether the layer keeps each block of its state times a positive factor of its own choice, against overflow: A then
  // acts on the state up to such a factor.
  virtual bool rescales_state() const { return false; }

  // Parameters (by their names in this module) that weight decay must leave alone.
  virtual std::vector<std::string> WithoutWeightDecay() const { return {}; }
};

}  // namespace lrnn
