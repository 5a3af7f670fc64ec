// The rotation layer against its equations, with the planes of the state turned token by token; counting modulo 5 by
// hand; its initialisation.
#include "lrnn/layers/rotation.h"

#include <gtest/gtest.h>

#include <cmath>

#include "lrnn/base/message_of.h"
#include "lrnn/ops/gradient_check.h"

namespace lrnn {
namespace {

using ops::Sequences;
using torch::Tensor;

Fields Config(nlohmann::json changes = nlohmann::json::object()) {
  nlohmann::json config = {{"hidden_size", 12}, {"num_heads", 3}};
  config.update(changes);
  return WithDefaults(RotationInfo(), Fields(config, "config.json"));
}

Rotation MakeLayer(const nlohmann::json& changes = nlohmann::json::object()) {
  Rng rng(1, 0);
  return Rotation(Config(changes), rng);
}

// One sequence, token by token, from the equations of rotation.h.
Tensor Equations(const RotationImpl& layer, const Tensor& x, int64_t H) {
  const auto p = layer.named_parameters();
  const int64_t T = x.size(0), K = p["k_proj.weight"].size(0) / H, V = p["v_proj.weight"].size(0) / H;
  const auto project = [&](const std::string& name) { return x.matmul(p[name + "_proj.weight"].t()); };
  const Tensor q = project("q").view({T, H, K}), k = project("k").view({T, H, K}), v = project("v").view({T, H, V});
  const Tensor dt = torch::softplus(project("dt") + p["dt_proj.bias"]);
  const Tensor a = torch::exp(-dt * torch::softplus(project("a") + p["a_proj.bias"]));
  const Tensor w = M_PI * torch::tanh(project("angle")).unsqueeze(1) * dt.unsqueeze(2);  // [T, H, K/2]
  Tensor S = torch::zeros({H, K, V}, x.options());
  std::vector<Tensor> rows;
  for (int64_t t = 0; t < T; ++t) {
    const auto planes = S.split(K / 2, 1);
    const Tensor c = torch::cos(w[t]).unsqueeze(2), s = torch::sin(w[t]).unsqueeze(2);
    const Tensor turned = torch::cat({c * planes[0] - s * planes[1], s * planes[0] + c * planes[1]}, 1);
    S = a[t].view({H, 1, 1}) * turned + dt[t].view({H, 1, 1}) * torch::einsum("hk,hv->hkv", {k[t], v[t]});
    const Tensor o = torch::einsum("hkv,hk->hv", {S, q[t]}) / std::sqrt(static_cast<double>(K));
    const Tensor normed = (o / torch::sqrt(o.square().mean(-1, true) + 1e-6) * p["o_norm.weight"]).reshape({H * V});
    rows.push_back((normed * torch::silu(project("g")[t])).matmul(p["o_proj.weight"].t()));
  }
  return torch::stack(rows);
}

TEST(Rotation, EqualsItsEquations) {
  Rotation layer = MakeLayer({{"expand_v", 2.0}});
  layer->to(torch::kFloat64);
  torch::manual_seed(1);
  torch::NoGradGuard no_grad;
  for (auto& parameter : layer->parameters()) parameter.add_(0.3 * torch::randn_like(parameter));
  const Tensor x = torch::randn({40, 12}, torch::kFloat64);
  EXPECT_LT(ops::RelativeError(layer->forward(x, Sequences::Single(40)), Equations(*layer, x, 3)), 1e-10);
}

// An angle of 2 pi / 5 without decay: after 100,000 ones the state is where it began, in float too.
TEST(Rotation, CountsModuloFiveByHand) {
  Rotation layer = MakeLayer({{"hidden_size", 4}, {"num_heads", 1}});
  const auto p = layer->named_parameters();
  torch::NoGradGuard no_grad;
  for (auto& item : p) {
    if (item.key() != "o_norm.weight") item.value().zero_();
  }
  p["dt_proj.bias"].fill_(std::log(std::expm1(1.0)));  // dt = 1
  p["a_proj.bias"].fill_(-200);                        // a = 1
  p["angle_proj.weight"].select(1, 0).fill_(std::atanh(0.4));
  const int64_t T = 100000;
  MixerState state{torch::ones({1, 1, 4, 4})};
  const Tensor x = torch::zeros({T, 4});
  x.select(1, 0).fill_(1);
  const MixerState start = state;
  layer->forward(x, Sequences::Single(T), &state);
  EXPECT_LT(ops::RelativeError(state[0], start[0]), 0.03);  // float's 2 pi / 5 itself is 1e-8 off, 100,000 times
  const Tensor eigenvalues = layer->Eigenvalues(x.slice(0, 0, 1), Sequences::Single(1));
  EXPECT_NEAR(torch::real(eigenvalues)[0][0][0].item<double>(), std::cos(0.4 * M_PI), 1e-6);
  EXPECT_NEAR(torch::imag(eigenvalues)[0][0][0].item<double>(), std::sin(0.4 * M_PI), 1e-6);
}

TEST(Rotation, Initialisation) {
  const auto p = MakeLayer({{"hidden_size", 128}, {"num_heads", 4}})->named_parameters();
  const double bound = std::pow(2, -2.5) * std::sqrt(6.0 / 256);
  EXPECT_NEAR(p["q_proj.weight"].abs().max().item<double>(), bound, 2e-5);
  EXPECT_EQ(p["angle_proj.weight"].sizes(), (std::vector<int64_t>{16, 128}));
  const Tensor dt = torch::softplus(p["dt_proj.bias"]);
  EXPECT_GE(dt.min().item<double>(), 1e-4);
  EXPECT_LE(dt.max().item<double>(), 0.1 + 1e-6);
}

TEST(Rotation, KeysComeInPairs) {
  EXPECT_EQ(MessageOf([] {
              MakeLayer({{"num_heads", 4}});
            }),
            "config.json: field \"num_heads\": expected heads whose keys have an even width, got 4");
}

}  // namespace
}  // namespace lrnn
