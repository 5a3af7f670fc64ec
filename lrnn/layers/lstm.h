// LSTM: the classical gated non-linear RNN (Hochreiter and Schmidhuber, 1997).
//
//   i~, f~, g~, o~ = W_ih x_t + b_ih + W_hh h_{t-1} + b_hh
//   c_t = sigmoid(f~) c_{t-1} + sigmoid(i~) tanh(g~)        y_t = h_t = sigmoid(o~) tanh(c_t)
//
// x, y, h, c: [T, D]. The gates depend on h, so there is no transition A(x_t): not a linear RNN.
// Parameter names, shapes and initial weights as in torch.nn.LSTM with one layer of hidden_size units.
#pragma once

#include "lrnn/base/rng.h"
#include "lrnn/io/fields.h"
#include "lrnn/layers/registry.h"
#include "lrnn/layers/sequence_mixer.h"

namespace lrnn {

class LstmImpl : public SequenceMixer {
 public:
  LstmImpl(const Fields& config, Rng& rng);

  // State: h, c [N, 2, 1, D].
  torch::Tensor forward(const torch::Tensor& x, const ops::Sequences& sequences, MixerState* state = nullptr) override;
  int64_t state_size() const override { return 2 * width_; }
  std::vector<std::string> WithoutWeightDecay() const override { return {"bias_ih_l0", "bias_hh_l0"}; }

 private:
  int64_t width_;                              // D
  torch::Tensor input_weight_, input_bias_;    // [4 D, D], [4 D]
  torch::Tensor hidden_weight_, hidden_bias_;  // [4 D, D], [4 D]
};
TORCH_MODULE(Lstm);

LayerInfo LstmInfo();

}  // namespace lrnn
