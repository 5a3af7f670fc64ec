#include "lrnn/models/model.h"

#include <gmock/gmock.h>

#include "lrnn/base/error.h"
#include "lrnn/base/message_of.h"
#include "lrnn/layers/registry.h"
#include "lrnn/ops/gradient_check.h"

namespace lrnn {
namespace {

using ops::Sequences;
using torch::Tensor;

// The paper's models: width 128, two layers; Mamba with a convolution of width 1 and no norm before the head.
Model PaperModel(const std::string& type, int64_t vocabulary) {
  nlohmann::json config = {
      {"model_type", type}, {"vocab_size", vocabulary}, {"hidden_size", 128}, {"num_hidden_layers", 2}};
  if (type == "mamba") config.update({{"conv_kernel", 1}, {"use_final_norm", false}});
  return Model(Fields(config, "test"), 1);
}

Model SmallModel(const std::string& type, nlohmann::json changes = nlohmann::json::object()) {
  nlohmann::json config = {{"model_type", type},
                           {"vocab_size", 7},
                           {"hidden_size", 16},
                           {"num_hidden_layers", 2},
                           {"allow_neg_eigval", true}};
  config.update(changes);
  return Model(Fields(config, "test"), 1);
}

Tensor Tokens(int64_t count) {
  torch::manual_seed(1);
  return torch::randint(7, {count}, torch::kInt64);
}

TEST(Model, ParameterCountsOfTheFactSheet) {
  EXPECT_EQ(PaperModel("delta_net", 3)->parameter_count(), 529856);
  EXPECT_EQ(PaperModel("delta_net", 10)->parameter_count(), 531648);
  EXPECT_EQ(PaperModel("delta_net", 12)->parameter_count(), 532160);
  EXPECT_EQ(PaperModel("mamba", 3)->parameter_count(), 232448);
  EXPECT_EQ(PaperModel("mamba", 10)->parameter_count(), 234240);
  EXPECT_EQ(PaperModel("mamba", 12)->parameter_count(), 234752);
}

TEST(Model, ParametersHaveTheFieldsNames) {
  const auto names = [](const Model& model) { return model->named_parameters().keys(); };
  EXPECT_THAT(names(SmallModel("delta_net")),
              testing::IsSupersetOf({"model.embeddings.weight", "model.layers.0.attn_norm.weight",
                                     "model.layers.1.attn.q_conv1d.weight", "model.layers.0.mlp_norm.weight",
                                     "model.layers.0.mlp.gate_proj.weight", "model.norm.weight", "lm_head.weight"}));
  EXPECT_THAT(names(SmallModel("mamba")),
              testing::IsSupersetOf({"backbone.embeddings.weight", "backbone.layers.0.norm.weight",
                                     "backbone.layers.1.mixer.A_log", "backbone.layers.0.mixer.dt_proj.bias",
                                     "backbone.norm_f.weight", "lm_head.weight"}));
  EXPECT_THAT(
      names(SmallModel("mamba", {{"use_final_norm", false}, {"tie_word_embeddings", true}})),
      testing::Not(testing::AnyOf(testing::Contains("lm_head.weight"), testing::Contains("backbone.norm_f.weight"))));
}

TEST(Model, InitialisationOfTheFactSheet) {
  const auto deviation = [](const Model& model, const std::string& name) {
    return model->named_parameters()[name].std().item<double>();
  };
  const Model delta = PaperModel("delta_net", 100);
  EXPECT_NEAR(deviation(delta, "model.embeddings.weight"), 0.02, 1e-3);
  EXPECT_NEAR(deviation(delta, "lm_head.weight"), 0.02, 1e-3);
  EXPECT_NEAR(deviation(delta, "model.layers.0.mlp.up_proj.weight"), 0.02, 1e-3);
  EXPECT_NEAR(deviation(delta, "model.layers.0.mlp.down_proj.weight"), 0.01, 5e-4);
  for (const char* gated : {"gated_deltanet", "gated_deltaproduct"}) {
    const Model model = PaperModel(gated, 100);
    EXPECT_NEAR(deviation(model, "model.embeddings.weight"), 0.02, 1e-3);
    EXPECT_NEAR(deviation(model, "model.layers.1.mlp.gate_proj.weight"), 0.02, 1e-3);
    // U(-b, b) with b = 1 / sqrt(512), over sqrt(4)
    const Tensor down = model->named_parameters()["model.layers.1.mlp.down_proj.weight"];
    EXPECT_NEAR(down.abs().max().item<double>(), 0.5 / std::sqrt(512.0), 1e-5);
    EXPECT_NEAR(down.std().item<double>(), 0.5 / std::sqrt(3 * 512.0), 1e-4);
  }
  const Model slstm = PaperModel("slstm", 100);
  for (const char* name :
       {"xlstm_block_stack.embeddings.weight", "lm_head.weight", "xlstm_block_stack.layers.1.ffn.proj_up.weight"}) {
    EXPECT_NEAR(deviation(slstm, name), 0.0559, 2e-3) << name;
  }
  EXPECT_NEAR(deviation(slstm, "xlstm_block_stack.layers.1.ffn.proj_down.weight"), 0.0884, 2e-3);
  // The forget gates of the last unit are the same in all layers, those in between are not.
  const auto forget = [&](const char* layer) {
    return slstm->named_parameters()[fmt::format("xlstm_block_stack.layers.{}.xlstm.slstm_cell._bias_", layer)]
        .view({4, 4, 32})
        .select(1, 1);
  };
  EXPECT_TRUE(torch::allclose(forget("0").select(1, 31), forget("1").select(1, 31)));
  EXPECT_LT(forget("0")[0][16].item<double>(), forget("1")[0][16].item<double>() - 1);
  const Model mamba = PaperModel("mamba", 100);
  EXPECT_NEAR(deviation(mamba, "backbone.embeddings.weight"), 1, 0.05);
  EXPECT_NEAR(deviation(mamba, "lm_head.weight"), 1 / std::sqrt(3.0 * 128), 3e-3);
  const Model diagonal = PaperModel("diagonal", 100);
  EXPECT_NEAR(deviation(diagonal, "model.embeddings.weight"), 0.0559, 2e-3);
  EXPECT_NEAR(deviation(diagonal, "lm_head.weight"), 0.0559, 2e-3);
}

TEST(Model, ChosenRowsAreRowsOfAll) {
  for (const LayerInfo& layer : Layers()) {
    Model model = SmallModel(layer.name);
    const auto sequences = Sequences::FromLengths({5, 8});
    const Tensor rows = torch::tensor({1, 4, 12}, torch::kInt64), tokens = Tokens(13);
    EXPECT_LT(ops::RelativeError(model->forward(tokens, sequences, rows),
                                 model->forward(tokens, sequences).index_select(0, rows)),
              1e-5)
        << layer.name;
  }
}

TEST(Model, StateCarriesAStream) {
  for (const LayerInfo& layer : Layers()) {
    Model model = SmallModel(layer.name);
    torch::NoGradGuard no_grad;
    const Tensor tokens = Tokens(20), whole = model->forward(tokens, Sequences::Single(20));
    ModelState state;
    const Tensor first = model->forward(tokens.slice(0, 0, 13), Sequences::Single(13), c10::nullopt, &state);
    const Tensor rest = model->forward(tokens.slice(0, 13), Sequences::Single(7), c10::nullopt, &state);
    EXPECT_LT(ops::RelativeError(torch::cat({first, rest}), whole), 1e-5) << layer.name;
    int64_t numbers = 0;
    for (const MixerState& mixer : state) {
      for (const Tensor& tensor : mixer) numbers += tensor.numel();
    }
    EXPECT_EQ(numbers, model->state_size() + 20 * model->state_growth()) << layer.name;
  }
}

TEST(Model, WithoutWeightDecayNamesParameters) {
  const Model mamba = SmallModel("mamba");
  EXPECT_THAT(mamba->WithoutWeightDecay(),
              testing::ElementsAre("backbone.layers.0.mixer.A_log", "backbone.layers.0.mixer.D",
                                   "backbone.layers.1.mixer.A_log", "backbone.layers.1.mixer.D"));
  for (const auto& name : mamba->WithoutWeightDecay()) EXPECT_TRUE(mamba->named_parameters().contains(name));
  EXPECT_THAT(SmallModel("delta_net")->WithoutWeightDecay(), testing::IsEmpty());
}

TEST(Model, HybridsMixLayers) {
  const nlohmann::json mixed = {"delta_net", {{"layer", "mamba"}, {"state_size", 3}}, "gla"};
  Model model = SmallModel("hybrid", {{"layers", mixed}, {"num_hidden_layers", 6}, {"num_heads", 2}});
  const auto names = model->named_parameters();
  EXPECT_THAT(names.keys(),
              testing::IsSupersetOf({"model.embeddings.weight", "model.layers.0.attn_norm.weight",
                                     "model.layers.3.attn.q_conv1d.weight", "model.layers.0.mlp.gate_proj.weight",
                                     "model.layers.1.norm.weight", "model.layers.4.mixer.A_log",
                                     "model.layers.5.attn.gk_proj.0.weight", "model.norm.weight", "lm_head.weight"}));
  EXPECT_EQ(names["model.layers.1.mixer.A_log"].size(1), 3);
  EXPECT_THAT(model->WithoutWeightDecay(), testing::Contains("model.layers.4.mixer.A_log"));
  for (const auto& name : model->WithoutWeightDecay()) EXPECT_TRUE(names.contains(name)) << name;

  // A block is what it is in a model of its own kind.
  int64_t blocks = 0, states = 0;
  for (const char* type : {"delta_net", "mamba", "gla"}) {
    const nlohmann::json own = {{"num_hidden_layers", 1}, {"num_heads", 2}, {"state_size", 3}};
    Model single = SmallModel(type, own);
    blocks += single->parameter_count() - 2 * 7 * 16 - 16;
    states += single->state_size();
  }
  EXPECT_EQ(model->parameter_count(), 2 * blocks + 2 * 7 * 16 + 16);
  EXPECT_EQ(model->state_size(), 2 * states);

  // The config says all, so that defaults may change.
  const nlohmann::json list = model->config().json()["layers"];
  EXPECT_EQ(list[1]["layer"], "mamba");
  EXPECT_EQ(list[1]["state_size"], 3);
  EXPECT_EQ(list[1]["conv_kernel"], 4);
  EXPECT_EQ(list[2]["num_heads"], 2);
  EXPECT_EQ(list[2]["allow_neg_eigval"], true);

  EXPECT_EQ(model->eigenvalue_range(), (EigenvalueRange{-1, 1}));
  const auto eigenvalues = model->Eigenvalues(Tokens(4), Sequences::Single(4));
  EXPECT_EQ(eigenvalues.size(), 6u);
  for (const Tensor& each : eigenvalues) EXPECT_EQ(each.size(0), 4);
}

TEST(Model, HybridErrors) {
  const auto message = [](nlohmann::json layers) {
    return MessageOf([&] { SmallModel("hybrid", {{"layers", layers}}); });
  };
  EXPECT_THAT(message({"delta_net", "lstn"}),
              testing::HasSubstr("test: layers[1]: unknown layer \"lstn\" (known: delta_net"));
  EXPECT_EQ(message({"delta_net", {{"layer", "gla"}, {"hidden_size", 3}}}),
            "test: layers[1]: unknown key \"hidden_size\" of gla");
  EXPECT_EQ(message({{{"layer", "gla"}, {"num_heads", 3}}, "gla"}),
            "test: layers[0]: field \"num_heads\": expected a divisor of 8 (hidden_size times expand_k), got 3");
  EXPECT_EQ(message(nlohmann::json::array()), "test: field \"layers\": expected a list of layers, got []");
}

TEST(Model, RefusesTokensThatAreNotOnePerRow) {
  Model model = SmallModel("delta_net");
  EXPECT_THROW(model->forward(Tokens(4), Sequences::Single(5)), Error);
}

}  // namespace
}  // namespace lrnn
