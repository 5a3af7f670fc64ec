// For tests: small delta-rule models of random weights, of width 15 with 3 heads, K = 2 and V = 7.
#pragma once

#include "lrnn/io/delta_rule_config.h"
#include "lrnn/runtime/test_model.h"

namespace lrnn {

// The tensors of a config, with the field's names and shapes.
inline TestModel TestDeltaRule(nlohmann::json config, DeltaRuleConfig (*read)(const Fields& config)) {
  TestModel model;
  const DeltaRuleConfig c = read(Fields(config, "test"));
  const int64_t D = c.width, n_h = c.householders, H = c.value_heads, W = c.conv_width;
  const int64_t I = config["intermediate_size"], vocab = config["vocab_size"];
  const double scale = 1 / std::sqrt(static_cast<double>(D));
  model.Add("model.embeddings.weight", {vocab, D}, 1);
  for (int64_t i = 0; i < config["num_hidden_layers"]; ++i) {
    const std::string layer = "model.layers." + std::to_string(i) + ".", attn = layer + "attn.";
    model.Add(layer + "attn_norm.weight", {D}, 0.2, 1);
    model.Add(attn + "q_proj.weight", {c.keys(), D}, scale);
    model.Add(attn + "k_proj.weight", {n_h * c.keys(), D}, scale);
    model.Add(attn + "v_proj.weight", {n_h * c.values(), D}, scale);
    model.Add(attn + "b_proj.weight", {n_h * H, D}, 3 * scale);
    if (c.has_decay) {
      model.Add(attn + "a_proj.weight", {H, D}, scale);
      model.Add(attn + "A_log", {H}, 0.5);
      model.Add(attn + "dt_bias", {H}, 0.5, -1);
    }
    if (W > 0) {
      model.Add(attn + "q_conv1d.weight", {c.keys(), 1, W}, 0.5);
      model.Add(attn + "k_conv1d.weight", {n_h * c.keys(), 1, W}, 0.5);
      model.Add(attn + "v_conv1d.weight", {n_h * c.values(), 1, W}, 0.5);
    }
    if (c.has_output_gate) model.Add(attn + "g_proj.weight", {c.values(), D}, scale);
    model.Add(attn + "o_norm.weight", {c.value_width}, 0.2, 1);
    model.Add(attn + "o_proj.weight", {D, c.values()}, scale);
    model.Add(layer + "mlp_norm.weight", {D}, 0.2, 1);
    model.Add(layer + "mlp.gate_proj.weight", {I, D}, scale);
    model.Add(layer + "mlp.up_proj.weight", {I, D}, scale);
    model.Add(layer + "mlp.down_proj.weight", {D, I}, scale);
  }
  if (config["use_final_norm"]) model.Add("model.norm.weight", {D}, 0.2, 1);
  if (!config["tie_word_embeddings"]) model.Add("lm_head.weight", {vocab, D}, scale);
  model.config = std::move(config);
  return model;
}

// `own` and `changes` replace settings of a config that all of them share.
inline nlohmann::json TestDeltaRuleConfig(const nlohmann::json& own, const nlohmann::json& changes) {
  nlohmann::json config = {{"hidden_size", 15},
                           {"num_hidden_layers", 2},
                           {"num_heads", 3},
                           {"conv_size", 4},
                           {"vocab_size", 11},
                           {"intermediate_size", 13},
                           {"norm_eps", 1e-4},
                           {"use_short_conv", true},
                           {"allow_neg_eigval", false},
                           {"use_final_norm", true},
                           {"tie_word_embeddings", false}};
  config.update(own);
  config.update(changes);
  return config;
}

inline TestModel TestDeltaNet(const nlohmann::json& changes = nlohmann::json::object()) {
  const nlohmann::json own = {
      {"model_type", "delta_net"}, {"expand_k", 0.4}, {"expand_v", 1.4}, {"qk_activation", "silu"}};
  return TestDeltaRule(TestDeltaRuleConfig(own, changes), ReadDeltaNet);
}

inline TestModel TestGatedDeltaNet(const nlohmann::json& changes = nlohmann::json::object()) {
  const nlohmann::json own = {{"model_type", "gated_deltanet"}, {"head_dim", 2}, {"expand_v", 3.5}};
  return TestDeltaRule(TestDeltaRuleConfig(own, changes), ReadGatedDeltaNet);
}

inline TestModel TestGatedDeltaProduct(const nlohmann::json& changes = nlohmann::json::object()) {
  const nlohmann::json own = {{"model_type", "gated_deltaproduct"},
                              {"head_dim", 2},
                              {"expand_v", 3.5},
                              {"num_householder", 2},
                              {"use_forget_gate", true}};
  return TestDeltaRule(TestDeltaRuleConfig(own, changes), ReadGatedDeltaProduct);
}

}  // namespace lrnn
