// Mamba-2 against its equations, written out with plain torch operations; its initialisation; its refusals.
#include "lrnn/layers/mamba2.h"

#include <gmock/gmock.h>

#include "lrnn/base/message_of.h"
#include "lrnn/ops/gradient_check.h"

namespace lrnn {
namespace {

using ops::Sequences;
using torch::Tensor;

Fields Config(nlohmann::json changes = nlohmann::json::object()) {
  nlohmann::json config = {{"hidden_size", 12}, {"num_heads", 6}, {"state_size", 5}, {"allow_neg_eigval", true}};
  config.update(changes);
  return WithDefaults(Mamba2Info(), Fields(config, "config.json"));
}

// One sequence, token by token, from the equations of mamba2.h.
Tensor Equations(const Mamba2Impl& layer, const Tensor& x, int64_t G, int64_t N, bool extended) {
  const auto p = layer.named_parameters();
  const int64_t T = x.size(0), H = p["D"].size(0), I = p["norm.weight"].size(0), P = I / H;
  const auto projected = x.matmul(p["in_proj.weight"].t()).split_with_sizes({I, I + 2 * G * N, H}, 1);
  const Tensor w = p["conv1d.weight"].squeeze(1);
  const Tensor padded = torch::cat({torch::zeros({w.size(1) - 1, w.size(0)}, x.options()), projected[1]});
  Tensor mixed = torch::zeros_like(projected[1]);
  for (int64_t tap = 0; tap < w.size(1); ++tap) mixed = mixed + w.select(1, tap) * padded.slice(0, tap, tap + T);
  mixed = torch::silu(p.contains("conv1d.bias") ? mixed + p["conv1d.bias"] : mixed);
  const auto parts = mixed.split_with_sizes({I, G * N, G * N}, 1);
  const Tensor dt = torch::softplus(projected[2] + p["dt_bias"]);
  Tensor S = torch::zeros({H, N, P}, x.options());
  std::vector<Tensor> rows;
  for (int64_t t = 0; t < T; ++t) {
    const Tensor u = parts[0][t].view({H, P});
    const auto of_heads = [&](const Tensor& part) { return part[t].view({G, N}).repeat_interleave(H / G, 0); };
    Tensor a = torch::exp(-dt[t] * torch::exp(p["A_log"]));
    if (extended) a = 2 * a - 1;
    S = a.view({H, 1, 1}) * S + torch::einsum("hn,hp->hnp", {of_heads(parts[1]), dt[t].unsqueeze(1) * u});
    const Tensor o = torch::einsum("hnp,hn->hp", {S, of_heads(parts[2])}) + p["D"].unsqueeze(1) * u;
    const Tensor gated = (o.reshape({I}) * torch::silu(projected[0][t])).view({G, I / G});
    const Tensor normed = gated / torch::sqrt(gated.square().mean(1, true) + 1e-5);
    rows.push_back((normed.reshape({I}) * p["norm.weight"]).matmul(p["out_proj.weight"].t()));
  }
  return torch::stack(rows);
}

TEST(Mamba2, EqualsItsEquations) {
  for (bool extended : {false, true}) {
    for (int64_t groups : {1, 2}) {
      for (bool bias : {false, true}) {
        Rng rng(1, 0);
        Mamba2 layer(Config({{"allow_neg_eigval", extended}, {"n_groups", groups}, {"use_conv_bias", bias}}), rng);
        layer->to(torch::kFloat64);
        {
          torch::NoGradGuard no_grad;
          torch::manual_seed(1);
          for (auto& parameter : layer->parameters()) parameter.add_(0.3 * torch::randn_like(parameter));
        }
        const Tensor x = torch::randn({41, 12}, torch::kFloat64);
        const Tensor expected = Equations(*layer, x, groups, 5, extended);
        EXPECT_LT(ops::RelativeError(layer->forward(x, Sequences::Single(41)), expected), 1e-12);
      }
    }
  }
}

TEST(Mamba2, NamesAndShapesOfTheFieldsCheckpoints) {
  Rng rng(1, 0);
  Mamba2 layer(Config({{"hidden_size", 128}, {"num_heads", 4}, {"state_size", 128}}), rng);
  std::map<std::string, std::vector<int64_t>> shapes;
  for (const auto& item : layer->named_parameters()) shapes[item.key()] = item.value().sizes().vec();
  const std::map<std::string, std::vector<int64_t>> expected = {{"in_proj.weight", {2 * 256 + 2 * 128 + 4, 128}},
                                                                {"conv1d.weight", {256 + 2 * 128, 1, 4}},
                                                                {"conv1d.bias", {256 + 2 * 128}},
                                                                {"dt_bias", {4}},
                                                                {"A_log", {4}},
                                                                {"D", {4}},
                                                                {"norm.weight", {256}},
                                                                {"out_proj.weight", {128, 256}}};
  EXPECT_EQ(shapes, expected);
}

TEST(Mamba2, Initialisation) {
  Rng rng(1, 0);
  Mamba2 layer(Config({{"hidden_size", 128}, {"num_heads", 128}}), rng);
  const auto p = layer->named_parameters();
  const auto bound = [&](const std::string& name) { return p[name].abs().max().item<double>(); };
  EXPECT_NEAR(bound("in_proj.weight"), 1 / std::sqrt(128.0), 1e-4);
  EXPECT_NEAR(bound("out_proj.weight"), 1 / std::sqrt(256.0), 1e-4);
  EXPECT_NEAR(bound("conv1d.weight"), 0.5, 0.01);
  const Tensor dt = torch::softplus(p["dt_bias"]), A = torch::exp(p["A_log"]);
  EXPECT_GE(dt.min().item<double>(), 0.00099);
  EXPECT_LE(dt.max().item<double>(), 0.1001);
  EXPECT_NEAR(torch::log(dt).mean().item<double>(), std::log(0.01), 0.3);  // log-uniform around the geometric mean
  EXPECT_GE(A.min().item<double>(), 1);
  EXPECT_LE(A.max().item<double>(), 16);
  EXPECT_NEAR(A.mean().item<double>(), 8.5, 1);
  EXPECT_TRUE(torch::equal(p["D"], torch::ones({128})));
  EXPECT_EQ(layer->WithoutWeightDecay(), (std::vector<std::string>{"A_log", "D", "dt_bias"}));
}

TEST(Mamba2, RefusesWhatItCannotDo) {
  Rng rng(1, 0);
  const auto message = [&](const nlohmann::json& changes) { return MessageOf([&] { Mamba2(Config(changes), rng); }); };
  EXPECT_THAT(message({{"use_bias", true}}), testing::HasSubstr("\"use_bias\": expected false, got true"));
  EXPECT_THAT(message({{"num_heads", 5}}), testing::HasSubstr("\"num_heads\": expected a divisor of 24"));
}

}  // namespace
}  // namespace lrnn
