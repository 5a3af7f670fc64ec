// For tests: a small full matrix layer of random weights.
#pragma once

#include "lrnn/runtime/test_diagonal.h"

namespace lrnn {

inline TestModel TestFullMatrix(const nlohmann::json& changes = nlohmann::json::object()) {
  return TestSimple("full_matrix", changes, [](TestModel& model, const std::string& mixer) {
    for (const char* name : {"a_proj", "b_proj"}) {
      model.Add(mixer + name + ".weight", {81, 9}, 0.2);
      model.Add(mixer + name + ".bias", {81}, 0.2);
    }
  });
}

}  // namespace lrnn
