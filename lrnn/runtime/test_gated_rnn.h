// For tests: a small sLSTM and a small LSTM of random weights.
#pragma once

#include "lrnn/runtime/test_model.h"

namespace lrnn {

// An slstm of width 12: 3 heads of 4, an MLP of inner width 16.
inline TestModel TestSlstm(const nlohmann::json& changes = nlohmann::json::object()) {
  TestModel model;
  auto& config = model.config;
  config = {{"model_type", "slstm"},  {"hidden_size", 12},
            {"num_hidden_layers", 2}, {"num_heads", 3},
            {"ffn_proj_factor", 1.3}, {"round_proj_up_to_multiple_of", 8},
            {"vocab_size", 7},        {"norm_eps", 1e-4},
            {"use_final_norm", true}, {"tie_word_embeddings", false}};
  config.update(changes);
  const int64_t D = 12, H = 3, K = 4, I = 16, vocab = config["vocab_size"];
  const double scale = 1 / std::sqrt(static_cast<double>(D));
  model.Add("xlstm_block_stack.embeddings.weight", {vocab, D}, 1);
  for (int64_t i = 0; i < config["num_hidden_layers"]; ++i) {
    const std::string layer = "xlstm_block_stack.layers." + std::to_string(i) + ".", mixer = layer + "xlstm.";
    model.Add(layer + "xlstm_norm.weight", {D}, 0.2, 1);
    for (const char* gate : {"igate", "fgate", "zgate", "ogate"}) model.Add(mixer + gate + ".weight", {H, K, K}, 0.7);
    model.Add(mixer + "slstm_cell._recurrent_kernel_", {H, K, 4 * K}, 0.7);
    model.Add(mixer + "slstm_cell._bias_", {4 * D}, 1);
    model.Add(mixer + "group_norm.weight", {D}, 0.2);
    model.Add(layer + "ffn_norm.weight", {D}, 0.2, 1);
    model.Add(layer + "ffn.proj_up.weight", {2 * I, D}, scale);
    model.Add(layer + "ffn.proj_down.weight", {D, I}, scale / 2);
  }
  if (config["use_final_norm"]) model.Add("xlstm_block_stack.post_blocks_norm.weight", {D}, 0.2, 1);
  if (!config["tie_word_embeddings"]) model.Add("lm_head.weight", {vocab, D}, scale);
  return model;
}

// An lstm of width 9.
inline TestModel TestLstm(const nlohmann::json& changes = nlohmann::json::object()) {
  TestModel model;
  auto& config = model.config;
  config = {{"model_type", "lstm"},       {"hidden_size", 9},       {"num_hidden_layers", 2},      {"vocab_size", 7},
            {"layer_norm_epsilon", 1e-4}, {"use_final_norm", true}, {"tie_word_embeddings", false}};
  config.update(changes);
  const int64_t D = 9, vocab = config["vocab_size"];
  const double scale = 1 / std::sqrt(static_cast<double>(D));
  model.Add("backbone.embeddings.weight", {vocab, D}, 1);
  for (int64_t i = 0; i < config["num_hidden_layers"]; ++i) {
    const std::string layer = "backbone.layers." + std::to_string(i) + ".";
    model.Add(layer + "norm.weight", {D}, 0.2, 1);
    model.Add(layer + "mixer.weight_ih_l0", {4 * D, D}, 2 * scale);
    model.Add(layer + "mixer.weight_hh_l0", {4 * D, D}, 2 * scale);
    model.Add(layer + "mixer.bias_ih_l0", {4 * D}, 0.5);
    model.Add(layer + "mixer.bias_hh_l0", {4 * D}, 0.5);
  }
  if (config["use_final_norm"]) model.Add("backbone.norm_f.weight", {D}, 0.2, 1);
  if (!config["tie_word_embeddings"]) model.Add("lm_head.weight", {vocab, D}, scale);
  return model;
}

}  // namespace lrnn
