// SequenceMixer: what mixes information over time in a block. LinearMixer: one that is a linear RNN,
//
//   H_t = A(x_t) H_{t-1} + B(x_t)        y_t = dec(H_t, x_t)
//
// How far it can track state depends on the eigenvalues of A: it declares the range they lie in and can show them.
// Other mixers (sLSTM, LSTM, softmax attention) have no A.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "lrnn/ops/sequences.h"
#include "lrnn/ops/torch.h"

namespace lrnn {

// Real eigenvalues lie in [low, high]. Of complex ones the real part does, and their modulus is at most the larger of
// |low| and |high|. Without a bound: infinity.
struct EigenvalueRange {
  double low = 0;
  double high = 0;
  bool operator==(const EigenvalueRange&) const = default;
};
inline constexpr EigenvalueRange kUnbounded{-std::numeric_limits<double>::infinity(),
                                            std::numeric_limits<double>::infinity()};

// What a mixer remembers between tokens: one tensor per kind of memory (convolution inputs, H, ...), each [N, ...] for
// N sequences. Empty means that nothing was seen yet.
using MixerState = std::vector<torch::Tensor>;

class SequenceMixer : public torch::nn::Module {
 public:
  // x, y: [T, D]. Without `state` every sequence starts from nothing and its end is forgotten; with it, sequences go on
  // from *state, which is then replaced by where they end. forward(whole) equals forward(first part), forward(rest).
  virtual torch::Tensor forward(const torch::Tensor& x, const ops::Sequences& sequences,
                                MixerState* state = nullptr) = 0;

  // How many numbers one sequence's state holds, and how many it gains with each token (none in an RNN).
  virtual int64_t state_size() const = 0;
  virtual int64_t state_growth() const { return 0; }

  // Parameters (by their names in this module) that weight decay must leave alone.
  virtual std::vector<std::string> WithoutWeightDecay() const { return {}; }
};

class LinearMixer : public SequenceMixer {
 public:
  // Where the eigenvalues of A lie, for any input and any weights.
  virtual EigenvalueRange eigenvalue_range() const = 0;

  // Those eigenvalues of A(x_t) that depend on the input: [T, ...], a complex tensor where they may be complex. (A
  // Householder layer has K - 1 more that are always 1.)
  virtual torch::Tensor Eigenvalues(const torch::Tensor& x, const ops::Sequences& sequences) = 0;

  // A(x_t) itself, dense: [T, blocks, n, n], a block for each independent part of the state (head, channel). For small
  // sizes. It acts on the last tensor of the state, [N, blocks, n, ...].
  virtual torch::Tensor Transitions(const torch::Tensor& x, const ops::Sequences& sequences) = 0;

  // Whether the layer keeps each block of its state times a positive factor of its own choice, against overflow: A then
  // acts on the state up to such a factor.
  virtual bool rescales_state() const { return false; }
};

}  // namespace lrnn
