// LSTM, the recurrent form (lrnn/layers/lstm.h is the training form and gives the equations).
//
//   c <- sigmoid(f~) c + sigmoid(i~) tanh(g~)        y = h = sigmoid(o~) tanh(c)
//
// State: h, c: [2, D].
#pragma once

#include <memory>
#include <string>

#include "lrnn/runtime/mixer.h"
#include "lrnn/runtime/weight_reader.h"

namespace lrnn {

// Reads the tensors `prefix.weight_ih_l0`, ... of an LSTM layer.
std::unique_ptr<RuntimeMixer> LoadRuntimeLstm(WeightReader& weights, const std::string& prefix);

}  // namespace lrnn
