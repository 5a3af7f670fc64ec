// mLSTM against its equations, written out with plain torch operations and no stabiliser; extreme gates; its
// initialisation.
#include "lrnn/layers/mlstm.h"

#include <gmock/gmock.h>

#include "lrnn/base/message_of.h"
#include "lrnn/ops/gradient_check.h"

namespace lrnn {
namespace {

using ops::Sequences;
using torch::Tensor;

Fields Config(nlohmann::json changes = nlohmann::json::object()) {
  nlohmann::json config = {{"hidden_size", 12},
                           {"num_heads", 3},
                           {"round_proj_up_to_multiple_of", 12},
                           {"qkv_proj_blocksize", 2},
                           {"allow_neg_eigval", true}};
  config.update(changes);
  return WithDefaults(MlstmInfo(), Fields(config, "config.json"));
}

Mlstm MakeLayer(const nlohmann::json& changes = nlohmann::json::object()) {
  Rng rng(1, 0);
  Mlstm layer(Config(changes), rng);
  layer->to(torch::kFloat64);
  torch::NoGradGuard no_grad;
  torch::manual_seed(1);
  for (auto& parameter : layer->parameters()) parameter.add_(0.3 * torch::randn_like(parameter));
  return layer;
}

// One sequence, token by token, from the equations of mlstm.h without e^-m; e^80 and more is no trouble in double.
Tensor Equations(const MlstmImpl& layer, const Tensor& x, int64_t H, bool extended) {
  const auto p = layer.named_parameters();
  const int64_t T = x.size(0), I = p["learnable_skip"].size(0), K = I / H;
  const auto uz = x.matmul(p["proj_up.weight"].t()).split(I, 1);
  const Tensor w = p["conv1d.conv.weight"].squeeze(1);
  const Tensor padded = torch::cat({torch::zeros({w.size(1) - 1, I}, x.options()), uz[0]});
  Tensor c = p["conv1d.conv.bias"] + torch::zeros_like(uz[0]);
  for (int64_t tap = 0; tap < w.size(1); ++tap) c = c + w.select(1, tap) * padded.slice(0, tap, tap + T);
  c = torch::silu(c);
  const auto blocks = [&](const Tensor& input, const char* name) {
    const auto parts = p[std::string(name) + "_proj.weight"].unbind();
    return input.matmul(torch::block_diag(parts).t());
  };
  const Tensor q = blocks(c, "q"), k = blocks(c, "k"), v = blocks(uz[0], "v"), qkv = torch::cat({q, k, v}, 1);
  const auto gate = [&](const std::string& name) {
    return qkv.matmul(p["mlstm_cell." + name + ".weight"].t()) + p["mlstm_cell." + name + ".bias"];
  };
  const Tensor i = gate("igate"), f = gate("fgate");
  const Tensor a = extended ? 2 * torch::sigmoid(f) - 1 : torch::sigmoid(f);
  Tensor C = torch::zeros({H, K, K}, x.options()), n = torch::zeros({H, K}, x.options());
  std::vector<Tensor> rows;
  for (int64_t t = 0; t < T; ++t) {
    const Tensor query = q[t].view({H, K});
    const Tensor key = torch::exp(i[t]).unsqueeze(1) * k[t].view({H, K}) / std::sqrt(static_cast<double>(K));
    C = a[t].view({H, 1, 1}) * C + torch::einsum("hk,hv->hkv", {key, v[t].view({H, K})});
    n = a[t].view({H, 1}) * n + key;
    const Tensor h = torch::einsum("hkv,hk->hv", {C, query}) / torch::clamp_min((n * query).sum(1, true).abs(), 1);
    const Tensor centred = h - h.mean(1, true);
    const Tensor normed = centred / torch::sqrt(centred.square().mean(1, true) + 1e-5);
    const Tensor scaled = normed.reshape({I}) * (1 + p["mlstm_cell.outnorm.weight"]);
    rows.push_back(((scaled + p["learnable_skip"] * c[t]) * torch::silu(uz[1][t])).matmul(p["proj_down.weight"].t()));
  }
  return torch::stack(rows);
}

// The 1e-6 in the denominator of the stabilised form is all that differs.
TEST(Mlstm, EqualsItsEquations) {
  for (bool extended : {false, true}) {
    Mlstm layer = MakeLayer({{"allow_neg_eigval", extended}});
    const Tensor x = torch::randn({41, 12}, torch::kFloat64);
    EXPECT_LT(ops::RelativeError(layer->forward(x, Sequences::Single(41)), Equations(*layer, x, 3, extended)), 1e-5);
  }
}

// Gates of 80 and -80 in any order: where e^80 and e^160 would overflow in float, both forms agree.
TEST(Mlstm, GatesOf80) {
  for (bool extended : {false, true}) {
    for (double input : {80.0, -80.0, 0.0}) {
      for (double forget : {80.0, -80.0, 0.0}) {
        SCOPED_TRACE(testing::Message() << "extended " << extended << ", gates " << input << " and " << forget);
        Mlstm layer = MakeLayer({{"allow_neg_eigval", extended}});
        const auto p = layer->named_parameters();
        {
          torch::NoGradGuard no_grad;
          p["mlstm_cell.igate.bias"].fill_(input);
          p["mlstm_cell.fgate.bias"].fill_(forget);
          // One head's gates run through the whole range from token to token.
          p["mlstm_cell.igate.weight"][0] *= 100;
          p["mlstm_cell.fgate.weight"][0] *= 100;
        }
        const Tensor x = torch::randn({20, 12}, torch::kFloat64), expected = Equations(*layer, x, 3, extended);
        EXPECT_LT(ops::RelativeError(layer->forward(x, Sequences::Single(20)), expected), 1e-5);
        layer->to(torch::kFloat32);
        const Tensor got = layer->forward(x.to(torch::kFloat32), Sequences::Single(20));
        EXPECT_TRUE(torch::isfinite(got).all().item<bool>());
        got.sum().backward();
        for (const auto& item : layer->named_parameters()) {
          EXPECT_TRUE(torch::isfinite(item.value().grad()).all().item<bool>()) << item.key();
        }
      }
    }
  }
}

TEST(Mlstm, NamesAndShapes) {
  Rng rng(1, 0);
  Mlstm layer(WithDefaults(MlstmInfo(), Fields({{"hidden_size", 128}}, "config.json")), rng);
  std::map<std::string, std::vector<int64_t>> shapes;
  for (const auto& item : layer->named_parameters()) shapes[item.key()] = item.value().sizes().vec();
  const std::map<std::string, std::vector<int64_t>> expected = {
      {"proj_up.weight", {512, 128}},        {"q_proj.weight", {64, 4, 4}},
      {"k_proj.weight", {64, 4, 4}},         {"v_proj.weight", {64, 4, 4}},
      {"conv1d.conv.weight", {256, 1, 4}},   {"conv1d.conv.bias", {256}},
      {"mlstm_cell.igate.weight", {4, 768}}, {"mlstm_cell.igate.bias", {4}},
      {"mlstm_cell.fgate.weight", {4, 768}}, {"mlstm_cell.fgate.bias", {4}},
      {"mlstm_cell.outnorm.weight", {256}},  {"learnable_skip", {256}},
      {"proj_down.weight", {128, 256}}};
  EXPECT_EQ(shapes, expected);
}

TEST(Mlstm, Initialisation) {
  Rng rng(1, 0);
  Mlstm layer(WithDefaults(MlstmInfo(), Fields({{"hidden_size", 128}}, "config.json")), rng);
  const auto p = layer->named_parameters();
  const auto deviation = [&](const std::string& name) { return p[name].std().item<double>(); };
  EXPECT_NEAR(deviation("proj_up.weight"), 0.0559, 5e-4);
  EXPECT_NEAR(deviation("q_proj.weight"), 0.0559, 5e-3);
  EXPECT_NEAR(deviation("proj_down.weight"), 0.1768, 2e-3);
  EXPECT_NEAR(p["conv1d.conv.weight"].abs().max().item<double>(), 0.5, 0.01);
  EXPECT_TRUE(torch::allclose(p["mlstm_cell.fgate.bias"], torch::tensor({3.0f, 4.0f, 5.0f, 6.0f})));
  EXPECT_LT(p["mlstm_cell.igate.bias"].abs().max().item<double>(), 0.5);
  for (const char* zero : {"mlstm_cell.igate.weight", "mlstm_cell.fgate.weight", "mlstm_cell.outnorm.weight"}) {
    EXPECT_EQ(p[zero].abs().max().item<double>(), 0) << zero;
  }
  EXPECT_TRUE(torch::equal(p["learnable_skip"], torch::ones({256})));
  for (const std::string& name : layer->WithoutWeightDecay()) EXPECT_EQ(p[name].dim(), 1) << name;
  EXPECT_EQ(layer->WithoutWeightDecay().size(), 5);
}

}  // namespace
}  // namespace lrnn
