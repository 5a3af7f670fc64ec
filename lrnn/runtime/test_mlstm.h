// For tests: a small mLSTM of random weights.
#pragma once

#include "lrnn/runtime/test_model.h"

namespace lrnn {

// An mlstm of width 9: inner width 24, 3 heads of 8, blocks of 2.
inline TestModel TestMlstm(const nlohmann::json& changes = nlohmann::json::object()) {
  TestModel model;
  auto& config = model.config;
  config = {{"model_type", "mlstm"},
            {"hidden_size", 9},
            {"num_hidden_layers", 2},
            {"num_heads", 3},
            {"proj_factor", 2.5},
            {"round_proj_up_to_multiple_of", 12},
            {"qkv_proj_blocksize", 2},
            {"conv1d_kernel_size", 3},
            {"vocab_size", 7},
            {"allow_neg_eigval", false},
            {"norm_eps", 1e-4},
            {"use_final_norm", true},
            {"tie_word_embeddings", false}};
  config.update(changes);
  const int64_t D = 9, I = 24, H = 3, W = config["conv1d_kernel_size"], vocab = config["vocab_size"];
  const double scale = 1 / std::sqrt(static_cast<double>(D));
  model.Add("xlstm_block_stack.embeddings.weight", {vocab, D}, 1);
  for (int64_t i = 0; i < config["num_hidden_layers"]; ++i) {
    const std::string layer = "xlstm_block_stack.layers." + std::to_string(i) + ".", mixer = layer + "xlstm.";
    model.Add(layer + "xlstm_norm.weight", {D}, 0.2, 1);
    model.Add(mixer + "proj_up.weight", {2 * I, D}, scale);
    model.Add(mixer + "conv1d.conv.weight", {I, 1, W}, 0.6);
    model.Add(mixer + "conv1d.conv.bias", {I}, 0.3);
    for (const char* name : {"q_proj.weight", "k_proj.weight", "v_proj.weight"}) {
      model.Add(mixer + name, {I / 2, 2, 2}, 1);
    }
    model.Add(mixer + "mlstm_cell.igate.weight", {H, 3 * I}, 0.5);
    model.Add(mixer + "mlstm_cell.igate.bias", {H}, 1);
    model.Add(mixer + "mlstm_cell.fgate.weight", {H, 3 * I}, 0.5);
    model.Add(mixer + "mlstm_cell.fgate.bias", {H}, 1, 1);
    model.Add(mixer + "mlstm_cell.outnorm.weight", {I}, 0.2);
    model.Add(mixer + "learnable_skip", {I}, 0.3, 1);
    model.Add(mixer + "proj_down.weight", {D, I}, scale / 2);
  }
  if (config["use_final_norm"]) model.Add("xlstm_block_stack.post_blocks_norm.weight", {D}, 0.2, 1);
  if (!config["tie_word_embeddings"]) model.Add("lm_head.weight", {vocab, D}, scale);
  return model;
}

}  // namespace lrnn
