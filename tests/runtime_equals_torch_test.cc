// The streaming form of every registered layer gives the logits of its training form.
#include <gtest/gtest.h>

#include "lrnn/io/test_directory.h"
#include "lrnn/layers/registry.h"
#include "lrnn/models/model_files.h"
#include "lrnn/runtime/model.h"

namespace lrnn {
namespace {

// The paper's size and an odd one; the settings that the layer has, away from their defaults where it has them.
std::vector<nlohmann::json> Configs(const LayerInfo& layer) {
  std::vector<nlohmann::json> configs;
  for (bool extended : {false, true}) {
    const nlohmann::json base = {{"model_type", layer.name}, {"vocab_size", 11}, {"allow_neg_eigval", extended}};
    configs.push_back(base);
    configs.back().update({{"hidden_size", 128}, {"num_hidden_layers", 2}});
    configs.push_back(base);
    configs.back().update(
        {{"hidden_size", 12}, {"num_hidden_layers", 3}, {"tie_word_embeddings", true}, {"use_final_norm", false}});
    for (const ConfigKey& key : layer.keys) {
      if (key.name == "conv_size" || key.name == "conv_kernel") configs.back()[key.name] = 1;
      if (key.name == "num_heads") configs.back()[key.name] = 3;
      if (key.name == "round_proj_up_to_multiple_of") configs.back()[key.name] = 12;
    }
  }
  return configs;
}

// Streams random tokens through a model of that config in both forms.
void ExpectEqualForms(const nlohmann::json& config) {
  SCOPED_TRACE(config.dump());
  Model model(Fields(config, "test"), 5);
  {
    // Away from the start, where a trained model is.
    torch::NoGradGuard no_grad;
    torch::manual_seed(1);
    for (auto& parameter : model->parameters()) parameter.add_(0.1 * torch::randn_like(parameter));
  }
  const TestDirectory directory;
  SaveModel(model, directory / "model");
  const auto session = RuntimeModel::Load(directory / "model").NewSession();
  torch::NoGradGuard no_grad;
  const torch::Tensor tokens = torch::randint(11, {60}, torch::kInt64);
  const torch::Tensor expected = model->forward(tokens, ops::Sequences::Single(60));
  const auto rows = expected.accessor<float, 2>();
  for (int round = 0; round < 2; ++round) {  // the second time after Reset
    session->Reset();
    for (int64_t t = 0; t < 60; ++t) {
      const auto logits = session->Step(static_cast<int32_t>(tokens[t].item<int64_t>()));
      for (int64_t i = 0; i < 11; ++i) {
        const float want = rows[t][i];
        ASSERT_NEAR(logits[i], want, 1e-4 * std::max(1.0f, std::abs(want))) << "token " << t << ", logit " << i;
      }
    }
  }
}

TEST(Runtime, EqualsTheTorchModelForEveryLayer) {
  for (const LayerInfo& layer : Layers()) {
    for (const nlohmann::json& config : Configs(layer)) ExpectEqualForms(config);
  }
}

TEST(Runtime, EqualsTheTorchModelForFormsOffTheDefaults) {
  const nlohmann::json base = {
      {"vocab_size", 11}, {"hidden_size", 12}, {"num_hidden_layers", 2}, {"num_heads", 3}, {"allow_neg_eigval", true}};
  for (const nlohmann::json& changes : std::vector<nlohmann::json>{
           {{"model_type", "delta_net"}, {"use_gate", true}},
           {{"model_type", "gated_deltanet"}, {"num_v_heads", 6}},
           {{"model_type", "gated_deltaproduct"}, {"num_householder", 3}, {"use_forget_gate", true}},
           {{"model_type", "gated_deltaproduct"}, {"num_householder", 2}, {"use_output_gate", false}}}) {
    nlohmann::json config = base;
    config.update(changes);
    ExpectEqualForms(config);
  }
}

// All layers in one model, and a pattern with settings of its own.
TEST(Runtime, EqualsTheTorchModelForHybrids) {
  nlohmann::json config = {
      {"model_type", "hybrid"}, {"vocab_size", 11}, {"hidden_size", 16}, {"allow_neg_eigval", true}};
  for (const LayerInfo& layer : Layers()) config["layers"].push_back(layer.name);
  ExpectEqualForms(config);
  config["layers"] = {{{"layer", "gla"}, {"num_heads", 2}}, "mamba"};
  config["num_hidden_layers"] = 4;
  config["tie_word_embeddings"] = true;
  ExpectEqualForms(config);
}

}  // namespace
}  // namespace lrnn
