#include "lrnn/io/dialects.h"

#include <gmock/gmock.h>

#include "lrnn/base/message_of.h"

namespace lrnn {
namespace {

using testing::HasSubstr;
using testing::Key;
using testing::UnorderedElementsAre;

struct Checkpoint {
  nlohmann::json config;
  TensorMap tensors;
  std::vector<std::vector<std::byte>> storage;
  std::vector<std::vector<float>> values;

  // A tensor of the numbers first, first + 1, ...
  void Add(const std::string& name, std::vector<int64_t> shape, float first = 0) {
    int64_t count = 1;
    for (int64_t size : shape) count *= size;
    std::vector<float> numbers(count);
    for (float& number : numbers) number = first++;
    values.push_back(std::move(numbers));
    tensors.emplace(name, FloatView(std::move(shape), values.back()));
  }
  void Convert() { ToOneForm(config, tensors, storage, "config.json"); }
};

TEST(Dialects, StateSpacesMamba) {
  Checkpoint checkpoint;
  checkpoint.config = {{"d_model", 768},         {"n_layer", 24},
                       {"vocab_size", 50277},    {"ssm_cfg", nlohmann::json::object()},
                       {"rms_norm", true},       {"residual_in_fp32", true},
                       {"fused_add_norm", true}, {"pad_vocab_size_multiple", 8}};
  checkpoint.Add("backbone.embedding.weight", {3, 2});
  checkpoint.Convert();
  const nlohmann::json expected = {{"model_type", "mamba"},
                                   {"hidden_size", 768},
                                   {"num_hidden_layers", 24},
                                   {"vocab_size", 50280},
                                   {"tie_word_embeddings", true},
                                   {"layer_norm_epsilon", 1e-5},
                                   {"expand", 2},
                                   {"state_size", 16},
                                   {"conv_kernel", 4},
                                   {"use_bias", false},
                                   {"use_conv_bias", true},
                                   {"time_step_rank", "auto"}};
  EXPECT_EQ(checkpoint.config, expected);
  EXPECT_THAT(checkpoint.tensors, UnorderedElementsAre(Key("backbone.embeddings.weight")));
}

TEST(Dialects, StateSpacesMamba2) {
  Checkpoint checkpoint;
  checkpoint.config = {{"d_model", 768},
                       {"n_layer", 24},
                       {"vocab_size", 50277},
                       {"ssm_cfg", {{"layer", "Mamba2"}, {"ngroups", 2}}},
                       {"pad_vocab_size_multiple", 16},
                       {"attn_layer_idx", nlohmann::json::array()},
                       {"tie_embeddings", false},
                       {"allow_neg_eigval", true}};
  checkpoint.Convert();
  EXPECT_EQ(checkpoint.config["model_type"], "mamba2");
  EXPECT_EQ(checkpoint.config["num_heads"], 24);
  EXPECT_EQ(checkpoint.config["n_groups"], 2);
  EXPECT_EQ(checkpoint.config["state_size"], 128);
  EXPECT_EQ(checkpoint.config["vocab_size"], 50288);
  EXPECT_EQ(checkpoint.config["tie_word_embeddings"], false);
  EXPECT_EQ(checkpoint.config["allow_neg_eigval"], true);
}

TEST(Dialects, StateSpacesModelsThatAreNotMamba) {
  const auto message = [](const nlohmann::json& changes) {
    Checkpoint checkpoint;
    checkpoint.config = {{"d_model", 8}, {"n_layer", 2}, {"vocab_size", 5}};
    checkpoint.config.update(changes);
    return MessageOf([&] { checkpoint.Convert(); });
  };
  const std::string place = "config.json: field ";
  EXPECT_EQ(message({{"attn_layer_idx", {1}}}),
            place + R"("attn_layer_idx": expected [] (no attention layers), got [1])");
  EXPECT_EQ(message({{"d_intermediate", 3}}), place + R"("d_intermediate": expected 0 (no MLP), got 3)");
  EXPECT_EQ(message({{"rms_norm", false}}), place + R"("rms_norm": expected true, got false)");
  EXPECT_EQ(message({{"ssm_cfg", {{"layer", "Mamba3"}}}}),
            place + R"("ssm_cfg.layer": expected "Mamba1" or "Mamba2", got "Mamba3")");
  EXPECT_EQ(message({{"ssm_cfg", {{"D_has_hdim", true}}}}),
            place + R"("ssm_cfg.D_has_hdim": expected no such setting, got true)");
  EXPECT_EQ(message({{"ssm_cfg", {{"layer", "Mamba2"}, {"headdim", 5}}}}),
            place + R"("ssm_cfg.headdim": expected a divisor of 16 (expand d_model), got 5)");
}

TEST(Dialects, MambaOfFla) {
  Checkpoint checkpoint;
  checkpoint.config = {{"model_type", "mamba"}, {"norm_eps", 1e-4}, {"dt_rank", 3}};
  checkpoint.Add("backbone.embeddings.weight", {3, 2});
  checkpoint.Convert();
  EXPECT_EQ(checkpoint.config["layer_norm_epsilon"], 1e-4);
  EXPECT_EQ(checkpoint.config["time_step_rank"], 3);
}

TEST(Dialects, GateAndUpInOneTensor) {
  Checkpoint checkpoint;
  checkpoint.config = {{"model_type", "delta_net"}, {"hidden_size", 2}, {"intermediate_size", 3}};
  checkpoint.Add("model.layers.0.mlp.gate_proj.weight", {6, 2});
  checkpoint.Add("model.layers.1.mlp.gate_proj.weight", {3, 2});
  checkpoint.Convert();
  const TensorView& gate = checkpoint.tensors.at("model.layers.0.mlp.gate_proj.weight");
  const TensorView& up = checkpoint.tensors.at("model.layers.0.mlp.up_proj.weight");
  EXPECT_EQ(gate.shape, (std::vector<int64_t>{3, 2}));
  EXPECT_EQ(ToFloats(gate), (std::vector<float>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(up.shape, (std::vector<int64_t>{3, 2}));
  EXPECT_EQ(ToFloats(up), (std::vector<float>{6, 7, 8, 9, 10, 11}));
  EXPECT_FALSE(checkpoint.tensors.contains("model.layers.1.mlp.up_proj.weight")) << "that one is missing";
}

TEST(Dialects, NormsInsideTheLayers) {
  Checkpoint checkpoint;
  checkpoint.config = {{"model_type", "delta_net"}, {"norm_first", true}};
  checkpoint.Add("model.layers.0.attn.norm.weight", {2});
  checkpoint.Add("model.layers.0.mlp.norm.weight", {2});
  checkpoint.Convert();
  EXPECT_THAT(checkpoint.tensors,
              UnorderedElementsAre(Key("model.layers.0.attn_norm.weight"), Key("model.layers.0.mlp_norm.weight")));
}

TEST(Dialects, DeltaProductWithATensorForEachStep) {
  Checkpoint checkpoint;
  checkpoint.config = {{"model_type", "gated_deltaproduct"}, {"use_gate", false}, {"num_householder", 2}};
  const std::string attn = "model.layers.0.attn.";
  for (const char* name : {"k_projs", "v_projs", "b_projs"}) {
    checkpoint.Add(attn + name + ".0.weight", {1, 2}, 0);
    checkpoint.Add(attn + name + ".1.weight", {1, 2}, 10);
  }
  for (const char* name : {"q_conv1ds", "k_conv1ds", "v_conv1ds"}) {
    checkpoint.Add(attn + name + ".0.weight", {1, 1, 2}, 0);
    checkpoint.Add(attn + name + ".1.weight", {1, 1, 2}, 10);
  }
  checkpoint.Add(attn + "A_log", {1});
  checkpoint.Convert();
  EXPECT_THAT(checkpoint.tensors,
              UnorderedElementsAre(Key(attn + "k_proj.weight"), Key(attn + "v_proj.weight"),
                                   Key(attn + "b_proj.weight"), Key(attn + "q_conv1d.weight"),
                                   Key(attn + "k_conv1d.weight"), Key(attn + "v_conv1d.weight"), Key(attn + "A_log")));
  EXPECT_EQ(checkpoint.tensors.at(attn + "k_proj.weight").shape, (std::vector<int64_t>{2, 2}));
  EXPECT_EQ(ToFloats(checkpoint.tensors.at(attn + "k_proj.weight")), (std::vector<float>{0, 1, 10, 11}));
  EXPECT_EQ(checkpoint.tensors.at(attn + "v_conv1d.weight").shape, (std::vector<int64_t>{2, 1, 2}));
  EXPECT_EQ(ToFloats(checkpoint.tensors.at(attn + "q_conv1d.weight")), (std::vector<float>{0, 1}));
  EXPECT_EQ(checkpoint.config["use_output_gate"], false);
  EXPECT_EQ(checkpoint.config["use_forget_gate"], true);

  checkpoint.Add(attn + "k_projs.0.weight", {1, 2});
  checkpoint.Add(attn + "k_projs.1.weight", {1, 3});
  EXPECT_THAT(MessageOf([&] { checkpoint.Convert(); }),
              HasSubstr("tensor \"" + attn +
                        "k_projs.1.weight\": expected shape [1, 2] and type F32 as in the steps "
                        "before, got [1, 3] and F32"));
}

TEST(Dialects, GlaWithoutFusedNorm) {
  Checkpoint checkpoint;
  checkpoint.config = {{"model_type", "gla"}, {"fuse_norm", true}};
  checkpoint.Add("model.layers.0.attn.g_norm.weight", {2});
  checkpoint.Convert();
  EXPECT_EQ(checkpoint.config["fuse_norm"], false);
}

TEST(Dialects, WhatNoLayerCanFollow) {
  const auto message = [](const nlohmann::json& changes) {
    Checkpoint checkpoint;
    checkpoint.config = {{"model_type", "gla"}};
    checkpoint.config.update(changes);
    return MessageOf([&] { checkpoint.Convert(); });
  };
  EXPECT_EQ(message({{"share_conv_kernel", true}}),
            "config.json: field \"share_conv_kernel\": expected false, got true");
  EXPECT_EQ(message({{"attnres_block_size", 4}}), "config.json: field \"attnres_block_size\": expected null, got 4");
}

TEST(Dialects, OwnFormStays) {
  Checkpoint checkpoint;
  checkpoint.config = {
      {"model_type", "gated_deltaproduct"}, {"hidden_size", 2}, {"intermediate_size", 3}, {"use_forget_gate", false}};
  checkpoint.Add("model.layers.0.attn.k_proj.weight", {2, 2});
  checkpoint.Add("model.layers.0.mlp.gate_proj.weight", {3, 2});
  checkpoint.Add("model.layers.0.mlp.up_proj.weight", {3, 2});
  const nlohmann::json config = checkpoint.config;
  const size_t tensors = checkpoint.tensors.size();
  checkpoint.Convert();
  EXPECT_EQ(checkpoint.config, config);
  EXPECT_EQ(checkpoint.tensors.size(), tensors);
}

}  // namespace
}  // namespace lrnn
