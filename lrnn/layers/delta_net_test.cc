// DeltaNet against its equations, written out with plain torch operations; its initialisation; its refusals.
#include "lrnn/layers/delta_net.h"

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
  return WithDefaults(DeltaNetInfo(), Fields(config, "config.json"));
}

// One sequence, token by token, from the equations of delta_net.h.
Tensor Equations(const DeltaNetImpl& layer, const Tensor& x, int64_t H, double scale_beta, bool conv, bool silu_qk) {
  const auto p = layer.named_parameters();
  const int64_t T = x.size(0), K = p["k_proj.weight"].size(0) / H, V = p["v_proj.weight"].size(0) / H;
  const auto project = [&](const std::string& name, bool silu) {
    Tensor z = x.matmul(p[name + "_proj.weight"].t());
    if (conv) {
      const Tensor w = p[name + "_conv1d.weight"].squeeze(1);  // [C, W]
      const Tensor padded = torch::cat({torch::zeros({w.size(1) - 1, z.size(1)}, z.options()), z});
      Tensor sum = torch::zeros_like(z);
      for (int64_t tap = 0; tap < w.size(1); ++tap) sum = sum + w.select(1, tap) * padded.slice(0, tap, tap + T);
      z = sum;
    }
    return silu ? torch::silu(z) : z;
  };
  const auto normalised = [](const Tensor& z) { return z / torch::sqrt(z.square().sum(-1, true) + 1e-6); };
  const Tensor q = normalised(project("q", silu_qk).view({T, H, K})),
               k = normalised(project("k", silu_qk).view({T, H, K}));
  const Tensor v = project("v", true).view({T, H, V});
  const Tensor beta = scale_beta * torch::sigmoid(x.matmul(p["b_proj.weight"].t()));
  Tensor S = torch::zeros({H, K, V}, x.options());
  std::vector<Tensor> rows;
  for (int64_t t = 0; t < T; ++t) {
    const Tensor e = v[t] - torch::einsum("hkv,hk->hv", {S, k[t]});
    S = S + beta[t].view({H, 1, 1}) * torch::einsum("hk,hv->hkv", {k[t], e});
    const Tensor o = torch::einsum("hkv,hk->hv", {S, q[t]}) / std::sqrt(static_cast<double>(K));
    const Tensor normed = o / torch::sqrt(o.square().mean(-1, true) + 1e-6) * p["o_norm.weight"];
    rows.push_back(normed.reshape({H * V}).matmul(p["o_proj.weight"].t()));
  }
  return torch::stack(rows);
}

TEST(DeltaNet, EqualsItsEquations) {
  for (bool extended : {false, true}) {
    for (bool conv : {false, true}) {
      for (bool silu_qk : {false, true}) {
        Rng rng(1, 0);
        DeltaNet layer(Config({{"allow_neg_eigval", extended},
                               {"use_short_conv", conv},
                               {"expand_v", 2.0},
                               {"qk_activation", silu_qk ? "silu" : "identity"}}),
                       rng);
        layer->to(torch::kFloat64);
        const Tensor x = torch::randn({11, 12}, torch::kFloat64);
        const Tensor expected = Equations(*layer, x, 3, extended ? 2 : 1, conv, silu_qk);
        EXPECT_LT(ops::RelativeError(layer->forward(x, Sequences::Single(11)), expected), 1e-12);
      }
    }
  }
}

TEST(DeltaNet, InitialisationOfTheFactSheet) {
  Rng rng(1, 0);
  DeltaNet layer(Config({{"hidden_size", 128}, {"num_heads", 4}}), rng);
  const auto p = layer->named_parameters();
  const auto bound = [&](const std::string& name) { return p[name].abs().max().item<double>(); };
  EXPECT_NEAR(bound("q_proj.weight"), 0.02706, 2e-5);
  EXPECT_NEAR(bound("o_proj.weight"), 0.02706, 2e-5);
  EXPECT_NEAR(bound("b_proj.weight"), 0.03769, 3e-4);
  EXPECT_NEAR(p["k_proj.weight"].std().item<double>(), 0.02706 / std::sqrt(3.0), 3e-4);
  EXPECT_NEAR(bound("v_conv1d.weight"), 0.5, 0.01);
  EXPECT_TRUE(torch::equal(p["o_norm.weight"], torch::ones({32})));
  EXPECT_EQ(p["q_conv1d.weight"].sizes(), (std::vector<int64_t>{128, 1, 4}));
  // The eigenvalue along k is about 1/2 at the start, and about 0 with the extended range.
  torch::NoGradGuard no_grad;
  EXPECT_NEAR(layer->Eigenvalues(torch::randn({100, 128}), Sequences::Single(100)).mean().item<double>(), 0, 0.05);
}

TEST(DeltaNet, RefusesWhatItCannotDo) {
  Rng rng(1, 0);
  const auto message = [&](const nlohmann::json& changes) {
    return MessageOf([&] { DeltaNet(Config(changes), rng); });
  };
  EXPECT_THAT(message({{"num_heads", 5}}), testing::HasSubstr("field \"num_heads\": expected a divisor of 12"));
  EXPECT_THAT(message({{"qk_activation", "relu"}}),
              testing::HasSubstr("\"qk_activation\": expected \"silu\" or \"identity\", got \"relu\""));
  EXPECT_THAT(message({{"use_gate", true}}), testing::HasSubstr("\"use_gate\": expected false, got true"));
  EXPECT_THAT(message({{"qk_norm", "sum"}}), testing::HasSubstr("\"qk_norm\""));
  EXPECT_THAT(message({{"use_beta", false}}), testing::HasSubstr("\"use_beta\""));
}

}  // namespace
}  // namespace lrnn
