// For tests: a small attention layer of random weights.
#pragma once

#include "lrnn/runtime/test_model.h"

namespace lrnn {

// A model of width D with MLPs of width 13 and a vocabulary of 11. `add_mixer(model, prefix)` adds the tensors of one
// mixer.
template <typename AddMixer>
TestModel TestTransformer(const std::string& model_type, int64_t D, const nlohmann::json& changes,
                          const AddMixer& add_mixer) {
  TestModel model;
  auto& config = model.config;
  config = {{"model_type", model_type}, {"hidden_size", D}, {"num_hidden_layers", 2}, {"vocab_size", 11},
            {"intermediate_size", 13},  {"norm_eps", 1e-4}, {"use_final_norm", true}, {"tie_word_embeddings", false}};
  config.update(changes);
  const int64_t I = 13, vocab = 11;
  const double scale = 1 / std::sqrt(static_cast<double>(D));
  model.Add("model.embeddings.weight", {vocab, D}, 1);
  for (int64_t i = 0; i < config["num_hidden_layers"]; ++i) {
    const std::string layer = "model.layers." + std::to_string(i) + ".";
    model.Add(layer + "attn_norm.weight", {D}, 0.2, 1);
    add_mixer(model, layer + "attn.");
    model.Add(layer + "mlp_norm.weight", {D}, 0.2, 1);
    model.Add(layer + "mlp.gate_proj.weight", {I, D}, scale);
    model.Add(layer + "mlp.up_proj.weight", {I, D}, scale);
    model.Add(layer + "mlp.down_proj.weight", {D, I}, scale);
  }
  if (config["use_final_norm"]) model.Add("model.norm.weight", {D}, 0.2, 1);
  if (!config["tie_word_embeddings"]) model.Add("lm_head.weight", {vocab, D}, scale);
  return model;
}

// 3 heads of 6.
inline TestModel TestAttention(const nlohmann::json& changes = nlohmann::json::object()) {
  TestModel model = TestTransformer("attention", 18, changes, [](TestModel& model, const std::string& mixer) {
    for (const char* name : {"q_proj", "k_proj", "v_proj", "o_proj"}) {
      model.Add(mixer + name + ".weight", {18, 18}, 0.3);
    }
  });
  model.config["num_heads"] = 3;
  return model;
}

}  // namespace lrnn
