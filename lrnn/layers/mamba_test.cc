// Mamba against its equations, written out with plain torch operations; its initialisation; its refusals.
#include "lrnn/layers/mamba.h"

#include <gmock/gmock.h>

#include "lrnn/base/message_of.h"
#include "lrnn/ops/gradient_check.h"

namespace lrnn {
namespace {

using ops::Sequences;
using torch::Tensor;

Fields Config(nlohmann::json changes = nlohmann::json::object()) {
  nlohmann::json config = {{"hidden_size", 20}, {"allow_neg_eigval", true}};
  config.update(changes);
  return WithDefaults(MambaInfo(), Fields(config, "config.json"));
}

Tensor Equations(const MambaImpl& layer, const Tensor& x, bool extended) {
  const auto p = layer.named_parameters();
  const int64_t T = x.size(0), I = p["D"].size(0), N = p["A_log"].size(1), R = p["dt_proj.weight"].size(1);
  const auto uz = x.matmul(p["in_proj.weight"].t()).split(I, 1);
  const Tensor w = p["conv1d.weight"].squeeze(1);
  const Tensor padded = torch::cat({torch::zeros({w.size(1) - 1, I}, x.options()), uz[0]});
  Tensor u = torch::zeros_like(uz[0]);
  for (int64_t tap = 0; tap < w.size(1); ++tap) u = u + w.select(1, tap) * padded.slice(0, tap, tap + T);
  u = torch::silu(p.contains("conv1d.bias") ? u + p["conv1d.bias"] : u);
  const auto low = u.matmul(p["x_proj.weight"].t()).split_with_sizes({R, N, N}, 1);
  const Tensor dt = torch::softplus(low[0].matmul(p["dt_proj.weight"].t()) + p["dt_proj.bias"]);
  Tensor h = torch::zeros({I, N}, x.options());
  std::vector<Tensor> rows;
  for (int64_t t = 0; t < T; ++t) {
    Tensor a = torch::exp(-dt[t].unsqueeze(1) * torch::exp(p["A_log"]));
    if (extended) a = 2 * a - 1;
    h = a * h + (dt[t] * u[t]).unsqueeze(1) * low[1][t];
    const Tensor y = h.matmul(low[2][t]) + p["D"] * u[t];
    rows.push_back((y * torch::silu(uz[1][t])).matmul(p["out_proj.weight"].t()));
  }
  return torch::stack(rows);
}

TEST(Mamba, EqualsItsEquations) {
  for (bool extended : {false, true}) {
    for (int64_t width : {1, 4}) {
      for (bool bias : {false, true}) {
        Rng rng(1, 0);
        Mamba layer(
            Config(
                {{"allow_neg_eigval", extended}, {"conv_kernel", width}, {"use_conv_bias", bias}, {"state_size", 5}}),
            rng);
        layer->to(torch::kFloat64);
        const Tensor x = torch::randn({11, 20}, torch::kFloat64);
        EXPECT_LT(ops::RelativeError(layer->forward(x, Sequences::Single(11)), Equations(*layer, x, extended)), 1e-12);
      }
    }
  }
}

TEST(Mamba, InitialisationOfTheFactSheet) {
  Rng rng(1, 0);
  Mamba layer(Config({{"hidden_size", 128}, {"conv_kernel", 1}}), rng);
  const auto p = layer->named_parameters();
  const auto bound = [&](const std::string& name) { return p[name].abs().max().item<double>(); };
  EXPECT_NEAR(bound("in_proj.weight"), 1 / std::sqrt(128.0), 1e-4);
  EXPECT_NEAR(bound("out_proj.weight"), 1 / std::sqrt(256.0), 1e-4);
  EXPECT_NEAR(bound("dt_proj.weight"), 0.3536, 1e-3);
  EXPECT_NEAR(bound("conv1d.weight"), 1, 0.02);
  EXPECT_NEAR(bound("conv1d.bias"), 1, 0.02);
  const Tensor dt = torch::softplus(p["dt_proj.bias"]);
  EXPECT_GE(dt.min().item<double>(), 0.00099);
  EXPECT_LE(dt.max().item<double>(), 0.1001);
  EXPECT_NEAR(torch::log(dt).mean().item<double>(), std::log(0.01), 0.25);  // log-uniform around the geometric mean
  EXPECT_TRUE(torch::allclose(torch::exp(p["A_log"][7]), torch::arange(1, 17, torch::kFloat32)));
  EXPECT_TRUE(torch::equal(p["D"], torch::ones({256})));
  EXPECT_EQ(p["x_proj.weight"].sizes(), (std::vector<int64_t>{8 + 16 + 16, 256}));
  EXPECT_EQ(layer->WithoutWeightDecay(), (std::vector<std::string>{"A_log", "D"}));
}

TEST(Mamba, RefusesWhatItCannotDo) {
  Rng rng(1, 0);
  const auto message = [&](const nlohmann::json& changes) { return MessageOf([&] { Mamba(Config(changes), rng); }); };
  EXPECT_THAT(message({{"use_bias", true}}), testing::HasSubstr("\"use_bias\": expected false, got true"));
  EXPECT_THAT(message({{"time_step_rank", "many"}}), testing::HasSubstr("\"time_step_rank\""));
  EXPECT_THAT(message({{"state_size", 0}}), testing::HasSubstr("\"state_size\""));
}

}  // namespace
}  // namespace lrnn
