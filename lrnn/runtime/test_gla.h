// For tests: a small GLA of random weights.
#pragma once

#include "lrnn/runtime/test_model.h"

namespace lrnn {

// A gla of width 15: 3 heads with K = 2 and V = 7, decays of rank 4.
inline TestModel TestGla(const nlohmann::json& changes = nlohmann::json::object()) {
  TestModel model;
  auto& config = model.config;
  config = {{"model_type", "gla"},
            {"hidden_size", 15},
            {"num_hidden_layers", 2},
            {"num_heads", 3},
            {"expand_k", 0.4},
            {"expand_v", 1.4},
            {"use_short_conv", false},
            {"conv_size", 4},
            {"gate_low_rank_dim", 4},
            {"vocab_size", 11},
            {"intermediate_size", 13},
            {"norm_eps", 1e-4},
            {"use_output_gate", true},
            {"allow_neg_eigval", false},
            {"gate_logit_normalizer", 2},
            {"use_final_norm", true},
            {"fuse_norm", true},
            {"tie_word_embeddings", false}};
  config.update(changes);
  const int64_t D = 15, K = 6, V = 21, I = 13, W = config["conv_size"], rank = 4, vocab = 11;
  const double scale = 1 / std::sqrt(static_cast<double>(D));
  model.Add("model.embeddings.weight", {vocab, D}, 1);
  for (int64_t i = 0; i < config["num_hidden_layers"]; ++i) {
    const std::string layer = "model.layers." + std::to_string(i) + ".", attn = layer + "attn.";
    model.Add(layer + "attn_norm.weight", {D}, 0.2, 1);
    model.Add(attn + "q_proj.weight", {K, D}, scale);
    model.Add(attn + "k_proj.weight", {K, D}, scale);
    model.Add(attn + "v_proj.weight", {V, D}, scale);
    model.Add(attn + "gk_proj.0.weight", {rank, D}, scale);
    model.Add(attn + "gk_proj.1.weight", {K, rank}, 2);
    model.Add(attn + "gk_proj.1.bias", {K}, 0.5);
    if (config["use_output_gate"]) model.Add(attn + "g_proj.weight", {V, D}, scale);
    if (config["use_short_conv"]) {
      model.Add(attn + "q_conv1d.weight", {K, 1, W}, 0.5);
      model.Add(attn + "k_conv1d.weight", {K, 1, W}, 0.5);
      model.Add(attn + "v_conv1d.weight", {V, 1, W}, 0.5);
    }
    const bool fused = config["use_output_gate"] && config["fuse_norm"];
    model.Add(attn + (fused ? "g_norm_swish_gate.weight" : "g_norm.weight"), {7}, 0.2, 1);
    model.Add(attn + "o_proj.weight", {D, V}, scale);
    model.Add(layer + "mlp_norm.weight", {D}, 0.2, 1);
    model.Add(layer + "mlp.gate_proj.weight", {I, D}, scale);
    model.Add(layer + "mlp.up_proj.weight", {I, D}, scale);
    model.Add(layer + "mlp.down_proj.weight", {D, I}, scale);
  }
  if (config["use_final_norm"]) model.Add("model.norm.weight", {D}, 0.2, 1);
  if (!config["tie_word_embeddings"]) model.Add("lm_head.weight", {vocab, D}, scale);
  return model;
}

}  // namespace lrnn
