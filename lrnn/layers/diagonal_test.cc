// The diagonal layer against its equations, its initialisation, and parity by hand.
#include "lrnn/layers/diagonal.h"

#include <gtest/gtest.h>

#include "lrnn/ops/gradient_check.h"

namespace lrnn {
namespace {

using ops::Sequences;
using torch::Tensor;

Diagonal MakeLayer(int64_t D, bool extended) {
  Rng rng(1, 0);
  return Diagonal(
      WithDefaults(DiagonalInfo(), Fields({{"hidden_size", D}, {"allow_neg_eigval", extended}}, "config.json")), rng);
}

TEST(Diagonal, EqualsItsEquations) {
  for (bool extended : {false, true}) {
    Diagonal layer = MakeLayer(6, extended);
    layer->to(torch::kFloat64);
    torch::manual_seed(1);
    const Tensor x = torch::randn({30, 6}, torch::kFloat64);
    const auto p = layer->named_parameters();
    Tensor h = torch::zeros({6}, torch::kFloat64);
    std::vector<Tensor> rows;
    for (int64_t t = 0; t < 30; ++t) {
      const Tensor z = 10 * (p["a_proj.weight"].mv(x[t]) + p["a_proj.bias"]);
      h = (extended ? torch::tanh(z) : torch::sigmoid(z)) * h + (p["b_proj.weight"].mv(x[t]) + p["b_proj.bias"]) * x[t];
      rows.push_back(h);
    }
    EXPECT_LT(ops::RelativeError(layer->forward(x, Sequences::Single(30)), torch::stack(rows)), 1e-13);
  }
}

TEST(Diagonal, Initialisation) {
  const auto p = MakeLayer(100, true)->named_parameters();
  for (const char* name : {"a_proj", "b_proj"}) {
    EXPECT_NEAR(p[std::string(name) + ".weight"].abs().max().item<double>(), 0.01, 1e-5);
    EXPECT_NEAR(p[std::string(name) + ".weight"].std().item<double>(), 0.01 / std::sqrt(3), 1e-4);
    EXPECT_NEAR(p[std::string(name) + ".bias"].abs().max().item<double>(), 0.1, 5e-3);
  }
}

// One channel, x = 1 for a bit 1 and -1 for a bit 0: the state changes its sign at every 1 and keeps it at every 0.
TEST(Diagonal, CountsModuloTwoByHand) {
  Diagonal layer = MakeLayer(1, true);
  const auto p = layer->named_parameters();
  {
    torch::NoGradGuard no_grad;
    p["a_proj.weight"].fill_(-100);
    p["a_proj.bias"].fill_(0);
    p["b_proj.weight"].fill_(0);
    p["b_proj.bias"].fill_(0);
  }
  torch::manual_seed(3);
  const Tensor bits = torch::randint(2, {500}, torch::kInt64);
  MixerState state{torch::ones({1, 1})};
  torch::NoGradGuard no_grad;
  const Tensor y = layer->forward((2 * bits - 1).to(torch::kFloat32).view({500, 1}), Sequences::Single(500), &state);
  EXPECT_TRUE(torch::equal(y.view({500}), (1 - 2 * (bits.cumsum(0) % 2)).to(torch::kFloat32)));
}

}  // namespace
}  // namespace lrnn
