// For tests: a small token matrix layer of random weights.
#pragma once

#include "lrnn/runtime/test_diagonal.h"

namespace lrnn {

// Matrices of 4 x 4.
inline TestModel TestTokenMatrix(const nlohmann::json& changes = nlohmann::json::object()) {
  TestModel model = TestSimple("token_matrix", changes, [](TestModel& model, const std::string& mixer) {
    model.Add(mixer + "A", {model.config["vocab_size"].get<int64_t>(), 4, 4}, 0.5);
    model.Add(mixer + "o_proj.weight", {9, 16}, 0.3);
  });
  model.config["matrix_size"] = 4;
  return model;
}

}  // namespace lrnn
