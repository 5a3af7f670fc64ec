// The full matrix layer against its equations, and its initialisation.
#include "lrnn/layers/full_matrix.h"

#include <gtest/gtest.h>

#include "lrnn/ops/gradient_check.h"

namespace lrnn {
namespace {

using ops::Sequences;
using torch::Tensor;

FullMatrix MakeLayer(int64_t D) {
  Rng rng(1, 0);
  return FullMatrix(WithDefaults(FullMatrixInfo(), Fields({{"hidden_size", D}}, "config.json")), rng);
}

TEST(FullMatrix, EqualsItsEquations) {
  FullMatrix layer = MakeLayer(5);
  layer->to(torch::kFloat64);
  torch::manual_seed(1);
  const Tensor x = torch::randn({20, 5}, torch::kFloat64);
  const auto p = layer->named_parameters();
  const auto matrix = [&](const std::string& name, int64_t t) {
    return (p[name + ".weight"].mv(x[t]) + p[name + ".bias"]).view({5, 5}) / std::sqrt(5.0);
  };
  Tensor h = torch::zeros({5}, torch::kFloat64);
  std::vector<Tensor> rows;
  for (int64_t t = 0; t < 20; ++t) {
    h = matrix("a_proj", t).mv(h) + matrix("b_proj", t).mv(x[t]);
    rows.push_back(h);
  }
  EXPECT_LT(ops::RelativeError(layer->forward(x, Sequences::Single(20)), torch::stack(rows)), 1e-13);
}

TEST(FullMatrix, Initialisation) {
  const auto p = MakeLayer(25)->named_parameters();
  for (const char* name : {"a_proj", "b_proj"}) {
    EXPECT_NEAR(p[std::string(name) + ".weight"].abs().max().item<double>(), 0.2, 1e-4);
    EXPECT_NEAR(p[std::string(name) + ".weight"].std().item<double>(), 0.2 / std::sqrt(3), 2e-3);
    EXPECT_NEAR(p[std::string(name) + ".bias"].abs().max().item<double>(), 0.2, 5e-3);
  }
}

}  // namespace
}  // namespace lrnn
