// For tests: a small Mamba-2 of random weights.
#pragma once

#include "lrnn/runtime/test_model.h"

namespace lrnn {

// A mamba2 of width 9: 6 heads of 3 channels with 5 states, 2 groups.
inline TestModel TestMamba2(const nlohmann::json& changes = nlohmann::json::object()) {
  TestModel model;
  auto& config = model.config;
  config = {{"model_type", "mamba2"},
            {"hidden_size", 9},
            {"num_hidden_layers", 2},
            {"expand", 2},
            {"num_heads", 6},
            {"state_size", 5},
            {"n_groups", 2},
            {"conv_kernel", 3},
            {"use_bias", false},
            {"use_conv_bias", true},
            {"vocab_size", 7},
            {"allow_neg_eigval", false},
            {"layer_norm_epsilon", 1e-4},
            {"use_final_norm", true},
            {"tie_word_embeddings", false}};
  config.update(changes);
  const int64_t D = 9, I = 18, N = 5, H = config["num_heads"], G = config["n_groups"], W = config["conv_kernel"];
  const int64_t convolved = I + 2 * G * N, vocab = config["vocab_size"];
  const double scale = 1 / std::sqrt(static_cast<double>(D));
  model.Add("backbone.embeddings.weight", {vocab, D}, 1);
  for (int64_t i = 0; i < config["num_hidden_layers"]; ++i) {
    const std::string layer = "backbone.layers." + std::to_string(i) + ".", mixer = layer + "mixer.";
    model.Add(layer + "norm.weight", {D}, 0.2, 1);
    model.Add(mixer + "in_proj.weight", {I + convolved + H, D}, scale);
    model.Add(mixer + "conv1d.weight", {convolved, 1, W}, 0.6);
    if (config["use_conv_bias"]) model.Add(mixer + "conv1d.bias", {convolved}, 0.3);
    model.Add(mixer + "dt_bias", {H}, 0.5, -1);
    model.Add(mixer + "A_log", {H}, 0.5, 0.5);
    model.Add(mixer + "D", {H}, 0.3, 1);
    model.Add(mixer + "norm.weight", {I}, 0.2, 1);
    model.Add(mixer + "out_proj.weight", {D, I}, scale / 2);
    if (config["use_bias"]) {
      model.Add(mixer + "in_proj.bias", {I + convolved + H}, 0.3);
      model.Add(mixer + "out_proj.bias", {D}, 0.3);
    }
  }
  if (config["use_final_norm"]) model.Add("backbone.norm_f.weight", {D}, 0.2, 1);
  if (!config["tie_word_embeddings"]) model.Add("lm_head.weight", {vocab, D}, scale);
  return model;
}

}  // namespace lrnn
