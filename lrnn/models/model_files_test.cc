#include "lrnn/models/model_files.h"

#include <gmock/gmock.h>

#include "lrnn/base/error.h"
#include "lrnn/base/message_of.h"
#include "lrnn/io/model_directory.h"
#include "lrnn/io/test_directory.h"
#include "lrnn/layers/registry.h"
#include "lrnn/ops/gradient_check.h"
#include "lrnn/runtime/automaton_files.h"

namespace lrnn {
namespace {

using ops::Sequences;

Model SmallModel(const std::string& type) {
  return Model(Fields({{"model_type", type},
                       {"vocab_size", 5},
                       {"hidden_size", 16},
                       {"num_hidden_layers", 2},
                       {"allow_neg_eigval", true}},
                      "test"),
               3);
}

TEST(ModelFiles, RoundTripOfEveryLayer) {
  for (const LayerInfo& layer : Layers()) {
    const TestDirectory directory;
    Model model = SmallModel(layer.name);
    SaveModel(model, directory.path() / "model");
    Model loaded = LoadModel(directory.path() / "model");
    const torch::Tensor tokens = torch::tensor({0, 1, 2, 3, 4, 4, 3}, torch::kInt64);
    EXPECT_TRUE(
        torch::equal(loaded->forward(tokens, Sequences::Single(7)), model->forward(tokens, Sequences::Single(7))))
        << layer.name;
    EXPECT_EQ(loaded->config().json(), model->config().json());
  }
}

TEST(ModelFiles, RoundTripOfAHybrid) {
  const TestDirectory directory;
  Model model(Fields({{"model_type", "hybrid"},
                      {"vocab_size", 5},
                      {"hidden_size", 16},
                      {"allow_neg_eigval", true},
                      {"layers", {"gla", {{"layer", "gated_deltaproduct"}, {"num_householder", 2}}, "mamba2"}}},
                     "test"),
              3);
  SaveModel(model, directory.path() / "model");
  Model loaded = LoadModel(directory.path() / "model");
  const torch::Tensor tokens = torch::tensor({0, 1, 2, 3, 4, 4, 3}, torch::kInt64);
  EXPECT_TRUE(
      torch::equal(loaded->forward(tokens, Sequences::Single(7)), model->forward(tokens, Sequences::Single(7))));
  EXPECT_EQ(loaded->config().json(), model->config().json());
}

TEST(ModelFiles, HalfPrecisionWeightsLoad) {
  const TestDirectory directory;
  Model model = SmallModel("delta_net");
  std::vector<torch::Tensor> halves;
  TensorMap views = ParameterViews(*model);
  for (auto& [name, view] : views) {
    halves.push_back(model->named_parameters()[name].detach().to(torch::kBFloat16));
    view = {DType::BF16, view.shape, static_cast<const std::byte*>(halves.back().data_ptr()),
            static_cast<size_t>(halves.back().nbytes())};
  }
  WriteModelDirectory(directory.path() / "model", model->config().json(), views);
  const Model loaded = LoadModel(directory.path() / "model");
  for (const auto& item : loaded->named_parameters()) {
    EXPECT_TRUE(
        torch::equal(item.value(), model->named_parameters()[item.key()].to(torch::kBFloat16).to(torch::kFloat32)))
        << item.key();
  }
}

TEST(ModelFiles, WithoutKeyAndHeadTheHeadIsTied) {
  const TestDirectory directory;
  Model model = SmallModel("mamba");
  nlohmann::json config = model->config().json();
  config.erase("tie_word_embeddings");
  TensorMap views = ParameterViews(*model);
  views.erase("lm_head.weight");
  WriteModelDirectory(directory.path() / "model", config, views);
  EXPECT_TRUE(LoadModel(directory.path() / "model")->config().Bool("tie_word_embeddings"));
}

// Writes the tensors of a model under other names and with another config, loads that, and expects the same logits.
void ExpectLoads(Model& model, const nlohmann::json& config, const TensorMap& tensors) {
  const TestDirectory directory;
  WriteModelDirectory(directory.path() / "model", config, tensors);
  Model loaded = LoadModel(directory.path() / "model");
  torch::NoGradGuard no_grad;
  const torch::Tensor tokens = torch::tensor({0, 1, 2, 3, 4, 4, 3}, torch::kInt64);
  EXPECT_TRUE(
      torch::equal(loaded->forward(tokens, Sequences::Single(7)), model->forward(tokens, Sequences::Single(7))));
}

TEST(ModelFiles, MambaInItsThreeDialects) {
  for (const char* type : {"mamba", "mamba2"}) {
    SCOPED_TRACE(type);
    nlohmann::json config = {{"model_type", type},          {"vocab_size", 8},
                             {"hidden_size", 16},           {"num_hidden_layers", 2},
                             {"tie_word_embeddings", true}, {"state_size", 5}};
    if (config["model_type"] == "mamba2") config.update({{"num_heads", 2}, {"state_size", 128}});
    Model model(Fields(config, "test"), 3);
    TensorMap tensors = ParameterViews(*model);
    ExpectLoads(model, config, tensors);  // transformers: the head is not stored

    nlohmann::json fla = config;
    fla.update({{"norm_eps", 1e-5}, {"dt_rank", 1}});
    ExpectLoads(model, fla, tensors);

    // state-spaces: a padded vocabulary, another name of the embedding, a tied head that is stored
    tensors["backbone.embedding.weight"] = tensors["lm_head.weight"] = tensors["backbone.embeddings.weight"];
    tensors.erase("backbone.embeddings.weight");
    nlohmann::json ssm = {{"d_state", 5}};
    if (config["model_type"] == "mamba2") ssm = {{"layer", "Mamba2"}, {"headdim", 16}};
    ExpectLoads(model, {{"d_model", 16}, {"n_layer", 2}, {"vocab_size", 5}, {"ssm_cfg", ssm}}, tensors);
  }
}

TEST(ModelFiles, DeltaProductWithATensorForEachStep) {
  nlohmann::json config = {{"model_type", "gated_deltaproduct"},
                           {"vocab_size", 5},
                           {"hidden_size", 16},
                           {"num_hidden_layers", 2},
                           {"num_householder", 2},
                           {"use_forget_gate", true},
                           {"use_output_gate", false},
                           {"num_heads", 2}};
  Model model(Fields(config, "test"), 3);
  TensorMap tensors;
  for (const auto& [name, view] : ParameterViews(*model)) {
    const bool is_kvb = name.find("attn.k_") != std::string::npos || name.find("attn.v_") != std::string::npos ||
                        name.find("attn.b_") != std::string::npos;
    const bool is_q_conv = name.ends_with("q_conv1d.weight");
    if (!is_kvb && !is_q_conv) {
      tensors.emplace(name, view);
      continue;
    }
    const std::string stem = name.substr(0, name.size() - std::string("weight").size() - 1);
    TensorView half = view;
    if (is_kvb) half.shape[0] /= 2, half.bytes /= 2;
    tensors.emplace(stem + "s.0.weight", half);
    if (is_kvb) half.data += half.bytes;
    tensors.emplace(stem + "s.1.weight", half);
  }
  config.erase("use_output_gate");
  config["use_gate"] = false;
  ExpectLoads(model, config, tensors);
}

TEST(ModelFiles, OldFormOfTheMlp) {
  Model model = SmallModel("delta_net");
  TensorMap tensors = ParameterViews(*model);
  std::vector<torch::Tensor> joined;
  for (int layer = 0; layer < 2; ++layer) {
    const std::string mlp = fmt::format("model.layers.{}.mlp.", layer);
    const auto p = model->named_parameters();
    joined.push_back(torch::cat({p[mlp + "gate_proj.weight"], p[mlp + "up_proj.weight"]}).detach());
    TensorView& gate = tensors[mlp + "gate_proj.weight"];
    gate = {DType::F32, joined.back().sizes().vec(), static_cast<const std::byte*>(joined.back().data_ptr()),
            static_cast<size_t>(joined.back().nbytes())};
    tensors.erase(mlp + "up_proj.weight");
  }
  ExpectLoads(model, model->config().json(), tensors);
}

TEST(ModelFiles, RefusesWhatDoesNotFit) {
  const TestDirectory directory;
  Model model = SmallModel("mamba");
  const auto message = [&](const std::function<void(TensorMap&)>& change) {
    TensorMap views = ParameterViews(*model);
    change(views);
    WriteModelDirectory(directory.path() / "model", model->config().json(), views);
    return MessageOf([&] { LoadModel(directory.path() / "model"); });
  };
  EXPECT_THAT(message([](TensorMap& views) { views.erase("lm_head.weight"); }),
              testing::HasSubstr("tensor \"lm_head.weight\" is missing"));
  EXPECT_THAT(message([](TensorMap& views) { views["extra"] = views["lm_head.weight"]; }),
              testing::HasSubstr("tensor \"extra\" belongs to no part of the model"));
  EXPECT_THAT(message([](TensorMap& views) {
                views["lm_head.weight"].shape = {16, 5};
              }),
              testing::HasSubstr("tensor \"lm_head.weight\": expected shape [5, 16], got [16, 5]"));
  WriteModelDirectory(directory.path() / "model", {{"model_type", kAutomatonModelType}}, {});
  EXPECT_THAT(MessageOf([&] { LoadModel(directory.path() / "model"); }),
              testing::HasSubstr("model: a compiled automaton, which LoadAutomatonModule loads"));
}

}  // namespace
}  // namespace lrnn
