// A sequence model: token embedding, blocks around mixers, head.
//
//   x = embedding(tokens)      for each block:  x <- x + mixer(norm(x));  x <- x + mlp(norm(x)) where there is an MLP
//   logits = W_head norm(x)    the last norm is optional (config key use_final_norm)
//   The simple layers' blocks are x <- mixer(norm(x)).
//
// tokens: [T] int64   x: [T, D]   logits: [rows, vocabulary]
// The blocks and names of parameters follow the model_type's skeleton (lrnn/io/skeleton.h), so that checkpoints of the
// field load.
#pragma once

#include <memory>
#include <vector>

#include "lrnn/base/rng.h"
#include "lrnn/io/fields.h"
#include "lrnn/io/skeleton.h"
#include "lrnn/layers/linear.h"
#include "lrnn/layers/rms_norm.h"
#include "lrnn/layers/sequence_mixer.h"
#include "lrnn/models/gated_gelu.h"
#include "lrnn/models/swiglu.h"
#include "lrnn/ops/sequences.h"

namespace lrnn {

// The state of every mixer; empty before the first token.
using ModelState = std::vector<MixerState>;

class BlockImpl : public torch::nn::Module {
 public:
  BlockImpl(const Fields& config, const Skeleton& skeleton, Rng& rng);

  // x: [T, D]. With `rows` only these rows are carried on after the mixer: [rows, D].
  torch::Tensor forward(const torch::Tensor& x, const ops::Sequences& sequences, MixerState* state,
                        const c10::optional<torch::Tensor>& rows);
  torch::Tensor MixerInput(const torch::Tensor& x) { return mixer_norm_->forward(x); }
  SequenceMixer& mixer() { return *mixer_; }
  const SequenceMixer& mixer() const { return *mixer_; }
  const std::string& mixer_name() const { return mixer_name_; }

 private:
  bool has_residual_;
  std::string mixer_name_;
  RmsNorm mixer_norm_{nullptr};
  std::shared_ptr<SequenceMixer> mixer_;
  RmsNorm mlp_norm_{nullptr};
  SwiGlu mlp_{nullptr};
  GatedGelu gated_gelu_{nullptr};  // or this one in its place
};
TORCH_MODULE(Block);

class ModelImpl : public torch::nn::Module {
 public:
  // `config` is a config.json: model_type, vocab_size, hidden_size, num_hidden_layers and the layer's keys, or for a
  // hybrid those of its layers (lrnn/io/layer_configs.h). Weights are initialised as the layers' authors do, from
  // `seed`.
  ModelImpl(const Fields& config, uint64_t seed);

  // Logits of all tokens, or of the given rows (int64, ascending): only they go through the last MLP and the head.
  // With `state`, sequences go on from it and leave theirs in it.
  torch::Tensor forward(const torch::Tensor& tokens, const ops::Sequences& sequences,
                        const c10::optional<torch::Tensor>& rows = c10::nullopt, ModelState* state = nullptr);

  // The input-dependent eigenvalues of every layer's transitions at these tokens, one tensor [T, ...] a layer;
  // undefined for a layer that is no linear RNN.
  std::vector<torch::Tensor> Eigenvalues(const torch::Tensor& tokens, const ops::Sequences& sequences);

  // Full names of the parameters that weight decay leaves alone.
  std::vector<std::string> WithoutWeightDecay() const;

  const Fields& config() const { return config_; }
  int64_t vocab_size() const { return vocab_size_; }
  int64_t parameter_count() const;
  int64_t state_size() const;    // numbers that one sequence's state holds
  int64_t state_growth() const;  // and gains with each token
  // The smallest range that has those of all linear layers in it; an Error when there are none.
  EigenvalueRange eigenvalue_range() const;
  std::vector<Block>& blocks() { return blocks_; }

 private:
  Fields config_;  // with defaults
  Skeleton skeleton_;
  int64_t vocab_size_;
  torch::Tensor embedding_;
  std::vector<Block> blocks_;
  RmsNorm final_norm_{nullptr};
  Linear head_{nullptr};  // null: tied to the embedding
};
TORCH_MODULE(Model);

}  // namespace lrnn
