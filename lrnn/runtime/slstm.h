// sLSTM, the recurrent form (lrnn/layers/slstm.h is the training form and gives the equations).
//
//   m' = max(i~, log sigmoid(f~) + m)        c <- f c + i tanh(z~)        n <- f n + i
//   with i = e^(i~ - m'), f = e^(log sigmoid(f~) + m - m');   h = sigmoid(o~) c / n;   n = 0 is no past
//
// State: h, c, n, m: [4, D].
#pragma once

#include <memory>
#include <string>

#include "lrnn/runtime/mixer.h"
#include "lrnn/runtime/weight_reader.h"

namespace lrnn {

// Reads the tensors `prefix.igate.weight`, ... of an sLSTM layer.
std::unique_ptr<RuntimeMixer> LoadRuntimeSlstm(WeightReader& weights, const std::string& prefix);

}  // namespace lrnn
