// For tests: the logits of a whole model in double precision, around a mixer that the test writes from its equations.
#pragma once

#include <string>
#include <vector>

#include "lrnn/runtime/test_model.h"

namespace lrnn {

// Mixer(model, prefix of its tensors) has Row Step(const Row& x). Blocks of the fla models: mixer and MLP.
template <typename Mixer>
std::vector<Row> FlaReferenceLogits(const TestModel& model, const std::vector<int32_t>& tokens) {
  const double eps = model.config["norm_eps"];
  std::vector<Mixer> mixers;
  for (int i = 0; i < model.config["num_hidden_layers"]; ++i) {
    mixers.emplace_back(model, "model.layers." + std::to_string(i) + ".attn");
  }
  std::vector<Row> logits;
  for (int32_t token : tokens) {
    Row x = model.Embedding("model.embeddings", token);
    for (size_t i = 0; i < mixers.size(); ++i) {
      const std::string layer = "model.layers." + std::to_string(i) + ".";
      x = Sum(x, mixers[i].Step(model.Norm(layer + "attn_norm", x, eps)));
      const Row normed = model.Norm(layer + "mlp_norm", x, eps);
      Row gate = model.Linear(layer + "mlp.gate_proj", normed);
      const Row up = model.Linear(layer + "mlp.up_proj", normed);
      for (size_t j = 0; j < gate.size(); ++j) gate[j] = Silu(gate[j]) * up[j];
      x = Sum(x, model.Linear(layer + "mlp.down_proj", gate));
    }
    if (model.config["use_final_norm"]) x = model.Norm("model.norm", x, eps);
    logits.push_back(model.Linear(model.config["tie_word_embeddings"] ? "model.embeddings" : "lm_head", x));
  }
  return logits;
}

// Blocks of the Mamba models: mixer alone.
template <typename Mixer>
std::vector<Row> MambaReferenceLogits(const TestModel& model, const std::vector<int32_t>& tokens) {
  const double eps = model.config["layer_norm_epsilon"];
  std::vector<Mixer> mixers;
  for (int i = 0; i < model.config["num_hidden_layers"]; ++i) {
    mixers.emplace_back(model, "backbone.layers." + std::to_string(i) + ".mixer");
  }
  std::vector<Row> logits;
  for (int32_t token : tokens) {
    Row x = model.Embedding("backbone.embeddings", token);
    for (size_t i = 0; i < mixers.size(); ++i) {
      x = Sum(x, mixers[i].Step(model.Norm("backbone.layers." + std::to_string(i) + ".norm", x, eps)));
    }
    if (model.config["use_final_norm"]) x = model.Norm("backbone.norm_f", x, eps);
    logits.push_back(model.Linear(model.config["tie_word_embeddings"] ? "backbone.embeddings" : "lm_head", x));
  }
  return logits;
}

// Blocks of the simple layers: a mixer without anything beside it.
template <typename Mixer>
std::vector<Row> SimpleReferenceLogits(const TestModel& model, const std::vector<int32_t>& tokens) {
  const double eps = model.config["norm_eps"];
  std::vector<Mixer> mixers;
  for (int i = 0; i < model.config["num_hidden_layers"]; ++i) {
    mixers.emplace_back(model, "model.layers." + std::to_string(i) + ".mixer");
  }
  std::vector<Row> logits;
  for (int32_t token : tokens) {
    Row x = model.Embedding("model.embeddings", token);
    for (size_t i = 0; i < mixers.size(); ++i) {
      x = mixers[i].Step(model.Norm("model.layers." + std::to_string(i) + ".norm", x, eps));
    }
    if (model.config["use_final_norm"]) x = model.Norm("model.norm", x, eps);
    logits.push_back(model.Linear(model.config["tie_word_embeddings"] ? "model.embeddings" : "lm_head", x));
  }
  return logits;
}

}  // namespace lrnn
