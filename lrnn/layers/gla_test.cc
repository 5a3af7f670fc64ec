// GLA against its equations, written out with plain torch operations; its initialisation; its refusals.
#include "lrnn/layers/gla.h"

#include <gmock/gmock.h>

#include "lrnn/base/message_of.h"
#include "lrnn/ops/gradient_check.h"

namespace lrnn {
namespace {

using ops::Sequences;
using torch::Tensor;

Fields Config(nlohmann::json changes = nlohmann::json::object()) {
  nlohmann::json config = {{"hidden_size", 12}, {"num_heads", 3}, {"allow_neg_eigval", true}};
  config.update(changes);
  return WithDefaults(GlaInfo(), Fields(config, "config.json"));
}

// One sequence, token by token, from the equations of gla.h.
Tensor Equations(const GlaImpl& layer, const Tensor& x, int64_t H, bool extended, double normalizer) {
  const auto p = layer.named_parameters();
  const int64_t T = x.size(0), K = p["k_proj.weight"].size(0) / H, V = p["v_proj.weight"].size(0) / H;
  const auto project = [&](const std::string& name) {
    const Tensor z = x.matmul(p[name + "_proj.weight"].t());
    if (!p.contains(name + "_conv1d.weight")) return z;
    const Tensor w = p[name + "_conv1d.weight"].squeeze(1);  // [C, W]
    const Tensor padded = torch::cat({torch::zeros({w.size(1) - 1, z.size(1)}, z.options()), z});
    Tensor sum = torch::zeros_like(z);
    for (int64_t tap = 0; tap < w.size(1); ++tap) sum = sum + w.select(1, tap) * padded.slice(0, tap, tap + T);
    return torch::silu(sum);
  };
  const Tensor q = project("q").view({T, H, K}), k = project("k").view({T, H, K}), v = project("v").view({T, H, V});
  const Tensor logits = x.matmul(p["gk_proj.0.weight"].t()).matmul(p["gk_proj.1.weight"].t()) + p["gk_proj.1.bias"];
  const Tensor s = torch::pow(torch::sigmoid(logits), 1 / normalizer).view({T, H, K});
  const Tensor a = extended ? 2 * s - 1 : s;
  const bool gated = p.contains("g_proj.weight");
  const Tensor norm = p.contains("g_norm.weight") ? p["g_norm.weight"] : p["g_norm_swish_gate.weight"];
  Tensor S = torch::zeros({H, K, V}, x.options());
  std::vector<Tensor> rows;
  for (int64_t t = 0; t < T; ++t) {
    S = a[t].unsqueeze(2) * S + torch::einsum("hk,hv->hkv", {k[t], v[t]});
    const Tensor o = torch::einsum("hkv,hk->hv", {S, q[t]}) / std::sqrt(static_cast<double>(K));
    Tensor normed = (o / torch::sqrt(o.square().mean(-1, true) + 1e-6) * norm).reshape({H * V});
    if (gated) normed = normed * torch::silu(x[t].matmul(p["g_proj.weight"].t()));
    rows.push_back(normed.matmul(p["o_proj.weight"].t()));
  }
  return torch::stack(rows);
}

TEST(Gla, EqualsItsEquations) {
  for (bool extended : {false, true}) {
    for (bool conv : {false, true}) {
      for (bool gate : {false, true}) {
        for (double normalizer : {16.0, 1.0}) {
          Rng rng(1, 0);
          Gla layer(Config({{"allow_neg_eigval", extended},
                            {"use_short_conv", conv},
                            {"use_output_gate", gate},
                            {"gate_logit_normalizer", normalizer},
                            {"expand_v", 2.0}}),
                    rng);
          layer->to(torch::kFloat64);
          torch::manual_seed(1);
          const Tensor x = 5 * torch::randn({41, 12}, torch::kFloat64);
          const Tensor expected = Equations(*layer, x, 3, extended, normalizer);
          EXPECT_LT(ops::RelativeError(layer->forward(x, Sequences::Single(41)), expected), 1e-12);
        }
      }
    }
  }
}

TEST(Gla, NamesAndShapesOfTheFieldsCheckpoints) {
  Rng rng(1, 0);
  Gla layer(Config({{"hidden_size", 128}, {"num_heads", 4}}), rng);
  std::map<std::string, std::vector<int64_t>> shapes;
  for (const auto& item : layer->named_parameters()) shapes[item.key()] = item.value().sizes().vec();
  const std::map<std::string, std::vector<int64_t>> expected = {
      {"q_proj.weight", {64, 128}},  {"k_proj.weight", {64, 128}},       {"v_proj.weight", {128, 128}},
      {"g_proj.weight", {128, 128}}, {"gk_proj.0.weight", {16, 128}},    {"gk_proj.1.weight", {64, 16}},
      {"gk_proj.1.bias", {64}},      {"g_norm_swish_gate.weight", {32}}, {"o_proj.weight", {128, 128}}};
  EXPECT_EQ(shapes, expected);
  Gla unfused(Config({{"fuse_norm", false}}), rng);
  EXPECT_TRUE(unfused->named_parameters().contains("g_norm.weight"));
}

TEST(Gla, Initialisation) {
  Rng rng(1, 0);
  Gla layer(Config({{"hidden_size", 128}, {"num_heads", 4}}), rng);
  const auto p = layer->named_parameters();
  const auto bound = [&](const std::string& name) { return p[name].abs().max().item<double>(); };
  const auto xavier = [](double in, double out) { return std::pow(2, -2.5) * std::sqrt(6 / (in + out)); };
  EXPECT_NEAR(bound("v_proj.weight"), xavier(128, 128), 2e-5);
  EXPECT_NEAR(bound("q_proj.weight"), xavier(128, 64), 2e-5);
  EXPECT_NEAR(bound("gk_proj.1.weight"), xavier(16, 64), 3e-4);
  EXPECT_EQ(bound("gk_proj.1.bias"), 0);
  EXPECT_TRUE(torch::equal(p["g_norm_swish_gate.weight"], torch::ones({32})));
  // Decays start near 2 (1/2)^(1/16) - 1.
  torch::NoGradGuard no_grad;
  const Tensor eigenvalues = layer->Eigenvalues(torch::randn({100, 128}), Sequences::Single(100));
  EXPECT_NEAR(eigenvalues.mean().item<double>(), 2 * std::pow(0.5, 1.0 / 16) - 1, 0.01);
}

TEST(Gla, RefusesWhatItCannotDo) {
  Rng rng(1, 0);
  const auto message = [&](const nlohmann::json& changes) { return MessageOf([&] { Gla(Config(changes), rng); }); };
  EXPECT_THAT(message({{"num_heads", 4}}), testing::HasSubstr("field \"num_heads\": expected a divisor of 6"));
  EXPECT_THAT(message({{"num_kv_heads", 1}}),
              testing::HasSubstr("\"num_kv_heads\": expected num_heads or null, got 1"));
  EXPECT_THAT(message({{"feature_map", "relu"}}), testing::HasSubstr("\"feature_map\": expected null, got \"relu\""));
  EXPECT_THAT(message({{"clamp_min", -1}}), testing::HasSubstr("\"clamp_min\": expected null, got -1"));
  EXPECT_THAT(message({{"gate_logit_normalizer", 0}}),
              testing::HasSubstr("\"gate_logit_normalizer\": expected a positive number, got 0"));
  EXPECT_THAT(message({{"attn", {{"layers", {0}}}}}), testing::HasSubstr("\"attn\": expected null"));
}

}  // namespace
}  // namespace lrnn
