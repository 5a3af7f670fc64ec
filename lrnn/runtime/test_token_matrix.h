// For tests: a small token matrix layer of random weights.
#pragma once

#include "lrnn/runtime/test_diagonal.h"

namespace lrnn {

// Matrices of 4 x 4.
inline TestModel TestTokenMatrix(const nlohmann::json& changes = nlohmann::json::object()) {
  TestModel model = TestSimple("token_matrix", changes);
  model.config["matrix_size"] = 4;
  const int64_t vocab = model.config["vocab_size"];
  for (int64_t i = 0; i < model.config["num_hidden_layers"]; ++i) {
    const std::string mixer = "model.layers." + std::to_string(i) + ".mixer.";
    model.Add(mixer + "A", {vocab, 4, 4}, 0.5);
    model.Add(mixer + "o_proj.weight", {9, 16}, 0.3);
  }
  return model;
}

}  // namespace lrnn
