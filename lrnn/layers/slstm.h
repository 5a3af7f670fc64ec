// sLSTM: a non-linear RNN with exponential input gates, a normaliser and a stabiliser (xLSTM; Beck et al., 2024).
//
//   i~, f~, z~, o~ = blockdiag(x_t) + blockdiag(h_{t-1}) + bias        a block and its recurrence for each head
//   c_t = sigmoid(f~) c_{t-1} + e^i~ tanh(z~)        n_t = sigmoid(f~) n_{t-1} + e^i~
//   h_t = sigmoid(o~) c_t / n_t        y = GroupNorm(h)
//
// x, y: [T, D]   h, c, n: [T, H, K] with H K = D
// The gates depend on h, so there is no transition A(x_t): not a linear RNN. e^i~ overflows, so c and n are kept times
// e^-m (lrnn/ops/gated_rnn.h).
//
// Parameter names and shapes as in NX-AI's xlstm (backend "cuda"), without its optional convolution. There the pass
// over whole sequences takes `fgate` for i~ and `igate` for f~; here names are what they say, so the two change places
// when such weights are read. The blocks around are RMSNorm where xlstm has a LayerNorm, with a gated MLP behind the
// layer.
#pragma once

#include "lrnn/base/rng.h"
#include "lrnn/io/fields.h"
#include "lrnn/io/slstm_config.h"
#include "lrnn/layers/registry.h"
#include "lrnn/layers/sequence_mixer.h"

namespace lrnn {

class SlstmImpl : public SequenceMixer {
 public:
  // How far down the model the layer is decides how its forget gates start: `layer_index` of num_hidden_layers, 0
  // without one.
  SlstmImpl(const Fields& config, Rng& rng);

  // State: h, c, n, m [N, 4, H, K].
  torch::Tensor forward(const torch::Tensor& x, const ops::Sequences& sequences, MixerState* state = nullptr) override;
  int64_t state_size() const override { return 4 * sizes_.heads * sizes_.head_width; }
  std::vector<std::string> WithoutWeightDecay() const override;

 private:
  SlstmConfig sizes_;
  double eps_;
  torch::Tensor gates_[4];     // i, f, z, o: [H, K (out), K (in)]
  torch::Tensor recurrent_;    // [H, K (in), 4 K]
  torch::Tensor bias_;         // [4 D]: [H, 4, K]
  torch::Tensor norm_weight_;  // [D], the scale less 1
};
TORCH_MODULE(Slstm);

LayerInfo SlstmInfo();

}  // namespace lrnn
