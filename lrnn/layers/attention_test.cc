// Attention against its equations, written out with plain torch operations; its initialisation.
#include "lrnn/layers/attention.h"

#include <gtest/gtest.h>

#include "lrnn/ops/gradient_check.h"

namespace lrnn {
namespace {

using ops::Sequences;
using torch::Tensor;

Fields Config(nlohmann::json changes = nlohmann::json::object()) {
  nlohmann::json config = {{"hidden_size", 12}, {"num_heads", 3}};
  config.update(changes);
  return WithDefaults(AttentionInfo(), Fields(config, "config.json"));
}

// One sequence, query by query, from the equations of attention.h.
Tensor Equations(const AttentionImpl& layer, const Tensor& x, int64_t H, double theta) {
  const auto p = layer.named_parameters();
  const int64_t T = x.size(0), K = x.size(1) / H;
  const auto project = [&](const char* name) { return x.matmul(p[name].t()).view({T, H, K}); };
  const auto turn = [&](const Tensor& z) {
    Tensor y = z.clone();
    for (int64_t t = 0; t < T; ++t) {
      for (int64_t i = 0; i < K / 2; ++i) {
        const double angle =
            static_cast<double>(t) * std::pow(theta, -2.0 * static_cast<double>(i) / static_cast<double>(K));
        const Tensor a = z[t].select(1, i), b = z[t].select(1, i + K / 2);
        y[t].select(1, i).copy_(std::cos(angle) * a - std::sin(angle) * b);
        y[t].select(1, i + K / 2).copy_(std::sin(angle) * a + std::cos(angle) * b);
      }
    }
    return y;
  };
  const Tensor q = turn(project("q_proj.weight")), k = turn(project("k_proj.weight")), v = project("v_proj.weight");
  std::vector<Tensor> rows;
  for (int64_t t = 0; t < T; ++t) {
    const Tensor scores = (k.slice(0, 0, t + 1) * q[t]).sum(2) / std::sqrt(static_cast<double>(K));  // [t + 1, H]
    const Tensor weights = torch::softmax(scores, 0);
    rows.push_back(
        (weights.unsqueeze(2) * v.slice(0, 0, t + 1)).sum(0).reshape({H * K}).matmul(p["o_proj.weight"].t()));
  }
  return torch::stack(rows);
}

TEST(Attention, EqualsItsEquations) {
  for (double theta : {10000.0, 50.0}) {
    Rng rng(1, 0);
    Attention layer(Config({{"rope_theta", theta}, {"initializer_range", 0.5}}), rng);
    layer->to(torch::kFloat64);
    torch::NoGradGuard no_grad;
    torch::manual_seed(1);
    const Tensor x = torch::randn({70, 12}, torch::kFloat64);
    EXPECT_LT(ops::RelativeError(layer->forward(x, Sequences::Single(70)), Equations(*layer, x, 3, theta)), 1e-12);
  }
}

// Sequences of different pasts go on together.
TEST(Attention, StatesOfDifferentLengths) {
  Rng rng(1, 0);
  Attention layer(Config({{"initializer_range", 0.5}}), rng);
  layer->to(torch::kFloat64);
  torch::manual_seed(1);
  const Tensor x = torch::randn({20, 12}, torch::kFloat64);
  const auto whole = layer->forward(x, Sequences::FromLengths({5, 15}));
  MixerState state;
  layer->forward(torch::cat({x.slice(0, 0, 1), x.slice(0, 5, 14)}), Sequences::FromLengths({1, 9}), &state);
  EXPECT_TRUE(torch::equal(state[0], torch::tensor({1, 9}, torch::kInt64)));
  EXPECT_EQ(state[1].sizes(), (std::vector<int64_t>{2, 9, 12}));
  const auto rest =
      layer->forward(torch::cat({x.slice(0, 1, 5), x.slice(0, 14)}), Sequences::FromLengths({4, 6}), &state);
  EXPECT_LT(ops::RelativeError(rest, torch::cat({whole.slice(0, 1, 5), whole.slice(0, 14)})), 1e-12);
}

TEST(Attention, NamesShapesAndInitialisation) {
  Rng rng(1, 0);
  Attention layer(Config({{"hidden_size", 128}, {"num_heads", 4}, {"num_hidden_layers", 2}}), rng);
  const auto p = layer->named_parameters();
  EXPECT_EQ(p.size(), 4);
  for (const char* name : {"q_proj.weight", "k_proj.weight", "v_proj.weight", "o_proj.weight"}) {
    EXPECT_EQ(p[name].sizes(), (std::vector<int64_t>{128, 128})) << name;
    EXPECT_NEAR(p[name].std().item<double>(), std::string(name) == "o_proj.weight" ? 0.01 : 0.02, 5e-4) << name;
  }
}

}  // namespace
}  // namespace lrnn
