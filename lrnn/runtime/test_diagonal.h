// For tests: a small diagonal layer of random weights.
#pragma once

#include "lrnn/runtime/test_model.h"

namespace lrnn {

// A model of simple layers: width 9, vocabulary of 7. `add_mixer(model, prefix)` adds the tensors of one mixer.
template <typename AddMixer>
TestModel TestSimple(const std::string& model_type, const nlohmann::json& changes, const AddMixer& add_mixer) {
  TestModel model;
  auto& config = model.config;
  config = {{"model_type", model_type}, {"hidden_size", 9},
            {"num_hidden_layers", 2},   {"vocab_size", 7},
            {"norm_eps", 1e-4},         {"allow_neg_eigval", false},
            {"use_final_norm", true},   {"tie_word_embeddings", false}};
  config.update(changes);
  const int64_t D = 9, vocab = config["vocab_size"];
  model.Add("model.embeddings.weight", {vocab, D}, 1);
  for (int64_t i = 0; i < config["num_hidden_layers"]; ++i) {
    const std::string layer = "model.layers." + std::to_string(i) + ".";
    model.Add(layer + "norm.weight", {D}, 0.2, 1);
    add_mixer(model, layer + "mixer.");
  }
  if (config["use_final_norm"]) model.Add("model.norm.weight", {D}, 0.2, 1);
  if (!config["tie_word_embeddings"]) model.Add("lm_head.weight", {vocab, D}, 0.3);
  return model;
}

inline TestModel TestDiagonal(const nlohmann::json& changes = nlohmann::json::object()) {
  return TestSimple("diagonal", changes, [](TestModel& model, const std::string& mixer) {
    for (const char* name : {"a_proj", "b_proj"}) {
      model.Add(mixer + name + ".weight", {9, 9}, 0.1);
      model.Add(mixer + name + ".bias", {9}, 0.2);
    }
  });
}

}  // namespace lrnn
