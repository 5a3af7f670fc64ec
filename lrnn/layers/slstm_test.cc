// sLSTM against its equations, written out with plain torch operations and no stabiliser; extreme gates; its
// initialisation.
#include "lrnn/layers/slstm.h"

#include <gmock/gmock.h>

#include "lrnn/ops/gradient_check.h"

namespace lrnn {
namespace {

using ops::Sequences;
using torch::Tensor;

Slstm MakeLayer(nlohmann::json config, uint64_t seed = 1) {
  Rng rng(seed, 0);
  return Slstm(WithDefaults(SlstmInfo(), Fields(std::move(config), "config.json")), rng);
}

Slstm WildLayer() {
  Slstm layer = MakeLayer({{"hidden_size", 12}, {"num_heads", 3}});
  layer->to(torch::kFloat64);
  torch::NoGradGuard no_grad;
  torch::manual_seed(1);
  for (auto& parameter : layer->parameters()) parameter.add_(0.3 * torch::randn_like(parameter));
  return layer;
}

// One sequence, token by token, from the equations of slstm.h without e^-m; e^80 and more is no trouble in double.
Tensor Equations(const SlstmImpl& layer, const Tensor& x, int64_t H) {
  const auto p = layer.named_parameters();
  const int64_t T = x.size(0), D = x.size(1), K = D / H;
  const auto input = [&](const std::string& name) {
    return x.matmul(torch::block_diag(p[name + "gate.weight"].unbind()).t());
  };
  const std::vector<Tensor> in{input("i"), input("f"), input("z"), input("o")};
  const Tensor bias = p["slstm_cell._bias_"].view({H, 4, K}), R = p["slstm_cell._recurrent_kernel_"].view({H, K, 4, K});
  Tensor h = torch::zeros({D}, x.options()), c = h, n = h;
  std::vector<Tensor> rows;
  for (int64_t t = 0; t < T; ++t) {
    const auto gate = [&](int64_t i) {
      const Tensor recurrent = torch::einsum("hk,hku->hu", {h.view({H, K}), R.select(2, i)}) + bias.select(1, i);
      return in[i][t] + recurrent.reshape({D});
    };
    const Tensor f = torch::sigmoid(gate(1)), i = torch::exp(gate(0)), z = torch::tanh(gate(2)), o = gate(3);
    c = f * c + i * z;
    n = f * n + i;
    h = torch::sigmoid(o) * c / n;
    const Tensor heads = h.view({H, K}), centred = heads - heads.mean(1, true);
    const Tensor normed = centred / torch::sqrt(centred.square().mean(1, true) + 1e-5);
    rows.push_back(normed.reshape({D}) * (1 + p["group_norm.weight"]));
  }
  return torch::stack(rows);
}

TEST(Slstm, EqualsItsEquations) {
  Slstm layer = WildLayer();
  const Tensor x = torch::randn({41, 12}, torch::kFloat64);
  EXPECT_LT(ops::RelativeError(layer->forward(x, Sequences::Single(41)), Equations(*layer, x, 3)), 1e-12);
}

// Gates of 80 and -80 in any order, and one head whose gates run through the whole range from token to token: where
// e^80 and e^160 would overflow in float, both forms agree.
TEST(Slstm, GatesOf80) {
  for (double input : {80.0, -80.0, 0.0}) {
    for (double forget : {80.0, -80.0, 0.0}) {
      SCOPED_TRACE(testing::Message() << "gates " << input << " and " << forget);
      Slstm layer = WildLayer();
      const auto p = layer->named_parameters();
      {
        torch::NoGradGuard no_grad;
        p["slstm_cell._bias_"].view({3, 4, 4}).select(1, 0).fill_(input);
        p["slstm_cell._bias_"].view({3, 4, 4}).select(1, 1).fill_(forget);
        p["igate.weight"][0] *= 100;
        p["fgate.weight"][0] *= 100;
      }
      const Tensor x = torch::randn({20, 12}, torch::kFloat64), expected = Equations(*layer, x, 3);
      EXPECT_LT(ops::RelativeError(layer->forward(x, Sequences::Single(20)), expected), 1e-9);
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

TEST(Slstm, ZeroInputsAreFine) {
  Slstm layer = MakeLayer({{"hidden_size", 128}});
  const Tensor y = layer->forward(torch::zeros({30, 128}), Sequences::Single(30));
  EXPECT_EQ(y.abs().max().item<float>(), 0);
}

TEST(Slstm, NamesAndShapes) {
  Slstm layer = MakeLayer({{"hidden_size", 128}});
  std::map<std::string, std::vector<int64_t>> shapes;
  for (const auto& item : layer->named_parameters()) shapes[item.key()] = item.value().sizes().vec();
  const std::map<std::string, std::vector<int64_t>> expected = {
      {"igate.weight", {4, 32, 32}}, {"fgate.weight", {4, 32, 32}}, {"zgate.weight", {4, 32, 32}},
      {"ogate.weight", {4, 32, 32}}, {"slstm_cell._bias_", {512}},  {"slstm_cell._recurrent_kernel_", {4, 32, 128}},
      {"group_norm.weight", {128}}};
  EXPECT_EQ(shapes, expected);
}

TEST(Slstm, Initialisation) {
  for (int64_t index : {0, 1}) {
    Slstm layer = MakeLayer({{"hidden_size", 128}, {"num_hidden_layers", 2}, {"layer_index", index}});
    const auto p = layer->named_parameters();
    for (const char* gate : {"igate.weight", "fgate.weight", "zgate.weight", "ogate.weight"}) {
      EXPECT_NEAR(p[gate].std().item<double>(), 0.0559, 2e-3) << gate;
      EXPECT_NEAR(p[gate].mean().item<double>(), 0, 3e-3) << gate;
    }
    for (const char* zero : {"slstm_cell._recurrent_kernel_", "group_norm.weight"}) {
      EXPECT_EQ(p[zero].abs().max().item<double>(), 0) << zero;
    }
    const Tensor bias = p["slstm_cell._bias_"].view({4, 4, 32});
    for (int64_t gate : {0, 2, 3}) EXPECT_EQ(bias.select(1, gate).abs().max().item<double>(), 0);
    for (int64_t head = 0; head < 4; ++head) {
      for (int64_t j = 0; j < 32; ++j) {
        const double expected = 5 - 12 * std::pow(static_cast<double>(j) / 31, index == 0 ? 0.3 : 1.6);
        EXPECT_NEAR(bias[head][1][j].item<double>(), expected, 1e-5) << "unit " << j;
      }
    }
  }
  Slstm layer = MakeLayer({{"hidden_size", 128}});
  for (const std::string& name : layer->WithoutWeightDecay()) EXPECT_EQ(layer->named_parameters()[name].dim(), 1);
  EXPECT_EQ(layer->WithoutWeightDecay().size(), 2);
}

}  // namespace
}  // namespace lrnn
