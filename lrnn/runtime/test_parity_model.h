// For tests: a DeltaNet that knows parity, by hand.
//
// One layer, one head of width 4. The key is e_0 for every token; the bit 1 has beta = 2 sigmoid(z) and a value v e_0,
// the bit 0 has beta = 0. With z = 200 beta is exactly 2 and the state's first entry alternates between 0 and 2 v for
// ever; with a smaller z it drifts to v.
#pragma once

#include "lrnn/automata/token_automaton.h"
#include "lrnn/runtime/test_model.h"

namespace lrnn {

inline TestModel ParityModel(float z = 200) {
  TestModel model;
  model.config = {{"model_type", "delta_net"},
                  {"hidden_size", 4},
                  {"num_hidden_layers", 1},
                  {"num_heads", 1},
                  {"vocab_size", 3},
                  {"intermediate_size", 1},
                  {"norm_eps", 0.01},
                  {"use_short_conv", false},
                  {"allow_neg_eigval", true},
                  {"qk_activation", "identity"},
                  {"tie_word_embeddings", false},
                  {"lrnn", {{"symbols", {"<pad>", "0", "1"}}, {"task", "parity"}}}};
  const float x = 1 / std::sqrt(0.26f);  // what RMSNorm makes of a 1
  const auto put = [&](const std::string& name, std::vector<int64_t> shape, std::vector<float> values) {
    model.tensors[name] = {std::move(shape), std::move(values)};
  };
  const std::string layer = "model.layers.0.";
  const std::vector<float> ones{1, 1, 1, 1}, key{64, 64, 64, 64, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  put("model.embeddings.weight", {3, 4}, {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0});
  put(layer + "attn_norm.weight", {4}, ones);
  put(layer + "attn.q_proj.weight", {4, 4}, key);
  put(layer + "attn.k_proj.weight", {4, 4}, key);
  put(layer + "attn.v_proj.weight", {4, 4}, {0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
  put(layer + "attn.b_proj.weight", {1, 4}, {-100, -100, z / x, 0});
  put(layer + "attn.o_norm.weight", {4}, ones);
  put(layer + "attn.o_proj.weight", {4, 4}, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0});
  put(layer + "mlp_norm.weight", {4}, ones);
  put(layer + "mlp.gate_proj.weight", {1, 4}, {0, 0, 0, 0});
  put(layer + "mlp.up_proj.weight", {1, 4}, {0, 0, 0, 0});
  put(layer + "mlp.down_proj.weight", {4, 1}, {0, 0, 0, 0});
  put("model.norm.weight", {4}, ones);
  put("lm_head.weight", {3, 4}, {0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 1});
  return model;
}

// What it should answer.
inline TokenAutomaton ParityTruth() {
  return {{2, {"0", "1"}, {{0, 1}, {1, 0}}, 0, {false, true}}, {}, {1, 2}, {1, 2}};
}

}  // namespace lrnn
