// For tests: a small full matrix layer of random weights.
#pragma once

#include "lrnn/runtime/test_diagonal.h"

namespace lrnn {

inline TestModel TestFullMatrix(const nlohmann::json& changes = nlohmann::json::object()) {
  TestModel model = TestSimple("full_matrix", changes);
  for (int64_t i = 0; i < model.config["num_hidden_layers"]; ++i) {
    const std::string mixer = "model.layers." + std::to_string(i) + ".mixer.";
    for (const char* name : {"a_proj", "b_proj"}) {
      model.Add(mixer + name + ".weight", {81, 9}, 0.2);
      model.Add(mixer + name + ".bias", {81}, 0.2);
    }
  }
  return model;
}

}  // namespace lrnn
