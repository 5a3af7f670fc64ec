// Causal softmax attention with rotary position embeddings: the mixer of Transformer++ and, among linear layers, of
// hybrids.
//
//   q, k, v = W_q x, W_k x, W_v x                    heads of width K
//   q_i, k_i turned by the angles i theta^(-2 j / K) of their position i                     rope_theta
//   o_i = sum over j <= i of softmax_j(q_i . k_j / sqrt(K)) v_j        y = W_o o
//
// x, y: [T, D]   q, k, v: [T, H, K], H K = D
// It is no RNN: what it remembers are all keys and values, and grows with every token. Parameter names and shapes as in
// flash-linear-attention's `transformer` checkpoints.
#pragma once

#include "lrnn/base/rng.h"
#include "lrnn/io/attention_config.h"
#include "lrnn/io/fields.h"
#include "lrnn/layers/linear.h"
#include "lrnn/layers/registry.h"
#include "lrnn/layers/sequence_mixer.h"

namespace lrnn {

class AttentionImpl : public SequenceMixer {
 public:
  AttentionImpl(const Fields& config, Rng& rng);

  // State: how many tokens each sequence has seen, int64 [N], then their keys and values, [N, longest, D] each.
  torch::Tensor forward(const torch::Tensor& x, const ops::Sequences& sequences, MixerState* state = nullptr) override;
  int64_t state_size() const override { return 1; }
  int64_t state_growth() const override { return 2 * sizes_.heads * sizes_.head_width; }

 private:
  AttentionConfig sizes_;
  Linear q_proj_{nullptr}, k_proj_{nullptr}, v_proj_{nullptr}, o_proj_{nullptr};
};
TORCH_MODULE(Attention);

LayerInfo AttentionInfo();

}  // namespace lrnn
