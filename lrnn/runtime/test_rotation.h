// For tests: a small rotation layer of random weights.
#pragma once

#include "lrnn/runtime/test_attention.h"

namespace lrnn {

// Width 15: 3 heads with K = 4 and V = 5.
inline TestModel TestRotation(const nlohmann::json& changes = nlohmann::json::object()) {
  TestModel model = TestTransformer("rotation", 15, changes, [](TestModel& model, const std::string& mixer) {
    const double scale = 1 / std::sqrt(15.0);
    model.Add(mixer + "q_proj.weight", {12, 15}, scale);
    model.Add(mixer + "k_proj.weight", {12, 15}, scale);
    model.Add(mixer + "v_proj.weight", {15, 15}, scale);
    model.Add(mixer + "g_proj.weight", {15, 15}, scale);
    model.Add(mixer + "dt_proj.weight", {3, 15}, scale);
    model.Add(mixer + "dt_proj.bias", {3}, 0.5);
    model.Add(mixer + "a_proj.weight", {3, 15}, scale);
    model.Add(mixer + "a_proj.bias", {3}, 0.5, -2);
    model.Add(mixer + "angle_proj.weight", {2, 15}, scale);
    model.Add(mixer + "o_norm.weight", {5}, 0.2, 1);
    model.Add(mixer + "o_proj.weight", {15, 15}, scale);
  });
  model.config.update({{"num_heads", 3}, {"expand_k", 0.8}, {"expand_v", 1.0}});
  return model;
}

}  // namespace lrnn
