// LSTM against torch's own, with the same parameters; its initialisation.
#include "lrnn/layers/lstm.h"

#include <gmock/gmock.h>
#include <torch/nn/modules/rnn.h>

#include "lrnn/ops/gradient_check.h"

namespace lrnn {
namespace {

using ops::Sequences;
using torch::Tensor;

Lstm MakeLayer(int64_t width) {
  Rng rng(1, 0);
  return Lstm(WithDefaults(LstmInfo(), Fields({{"hidden_size", width}}, "config.json")), rng);
}

TEST(Lstm, EqualsTorch) {
  Lstm layer = MakeLayer(13);
  layer->to(torch::kFloat64);
  torch::nn::LSTM torchs(torch::nn::LSTMOptions(13, 13));
  torchs->to(torch::kFloat64);
  std::vector<std::string> names;
  {
    torch::NoGradGuard no_grad;
    torch::manual_seed(1);
    for (auto& item : torchs->named_parameters()) {
      item.value().add_(torch::randn_like(item.value()));
      layer->named_parameters()[item.key()].copy_(item.value());
      names.push_back(item.key());
    }
  }
  EXPECT_EQ(layer->named_parameters().size(), 4);
  const Tensor x = torch::randn({40, 13}, torch::kFloat64);
  const Tensor got = layer->forward(x, Sequences::Single(40));
  const Tensor expected = std::get<0>(torchs->forward(x.unsqueeze(1))).squeeze(1);
  EXPECT_LT(ops::RelativeError(got, expected), 1e-12);
  ops::WeightedSum({got}).backward();
  ops::WeightedSum({expected}).backward();
  for (const std::string& name : names) {
    EXPECT_LT(ops::RelativeError(layer->named_parameters()[name].grad(), torchs->named_parameters()[name].grad()),
              1e-11)
        << name;
  }
}

// Its gates saturate and its cell counts; nothing overflows.
TEST(Lstm, GatesOf80) {
  for (double input : {80.0, -80.0}) {
    for (double forget : {80.0, -80.0}) {
      Lstm layer = MakeLayer(8);
      const auto p = layer->named_parameters();
      {
        torch::NoGradGuard no_grad;
        p["bias_ih_l0"].slice(0, 0, 8).fill_(input);
        p["bias_ih_l0"].slice(0, 8, 16).fill_(forget);
      }
      const Tensor y = layer->forward(torch::randn({200, 8}), Sequences::Single(200));
      EXPECT_LE(y.abs().max().item<double>(), 1);
      y.sum().backward();
      for (const auto& item : p) EXPECT_TRUE(torch::isfinite(item.value().grad()).all().item<bool>()) << item.key();
    }
  }
}

TEST(Lstm, Initialisation) {
  Lstm layer = MakeLayer(64);
  for (const auto& item : layer->named_parameters()) {
    const double bound = 1 / 8.0, tolerance = item.value().dim() == 2 ? 1e-3 : 1e-2;
    EXPECT_LE(item.value().abs().max().item<double>(), bound) << item.key();
    EXPECT_NEAR(item.value().abs().max().item<double>(), bound, tolerance) << item.key();
    EXPECT_NEAR(item.value().std().item<double>(), bound / std::sqrt(3.0), 10 * tolerance * bound) << item.key();
  }
  for (const std::string& name : layer->WithoutWeightDecay()) EXPECT_EQ(layer->named_parameters()[name].dim(), 1);
}

}  // namespace
}  // namespace lrnn
