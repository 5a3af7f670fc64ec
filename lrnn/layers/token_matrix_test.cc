// The token matrix layer against its equations, its initialisation, and S5 by hand.
#include "lrnn/layers/token_matrix.h"

#include <gtest/gtest.h>

#include "lrnn/base/message_of.h"
#include "lrnn/ops/gradient_check.h"

namespace lrnn {
namespace {

using ops::Sequences;
using torch::Tensor;

TokenMatrix MakeLayer(int64_t vocabulary, int64_t n) {
  Rng rng(1, 0);
  const nlohmann::json config = {{"hidden_size", 6}, {"vocab_size", vocabulary}, {"matrix_size", n}};
  return TokenMatrix(WithDefaults(TokenMatrixInfo(), Fields(config, "config.json")), rng);
}

TEST(TokenMatrix, EqualsItsEquations) {
  TokenMatrix layer = MakeLayer(4, 3);
  layer->to(torch::kFloat64);
  const auto p = layer->named_parameters();
  {
    torch::NoGradGuard no_grad;
    p["A"][0] *= 0.1;  // the state comes into the unit ball and leaves it again
  }
  torch::manual_seed(1);
  const Tensor ids = torch::randint(4, {30}, torch::kInt64), x = torch::randn({30, 6}, torch::kFloat64);
  Tensor H = torch::eye(3, torch::kFloat64);
  std::vector<Tensor> rows;
  bool inside = false;
  for (int64_t t = 0; t < 30; ++t) {
    H = p["A"][ids[t].item<int64_t>()].matmul(H);
    const double norm = H.norm().item<double>();
    inside |= norm < 1;
    rows.push_back(p["o_proj.weight"].mv(H.reshape({9}) / std::max(1.0, norm)));
  }
  EXPECT_TRUE(inside);
  const auto sequences = Sequences::Single(30).WithIds(ids);
  EXPECT_LT(ops::RelativeError(layer->forward(x, sequences), torch::stack(rows)), 1e-12);
}

TEST(TokenMatrix, Initialisation) {
  const auto p = MakeLayer(50, 16)->named_parameters();
  EXPECT_NEAR(p["A"].std().item<double>(), 0.25, 5e-3);
  EXPECT_NEAR(p["o_proj.weight"].abs().max().item<double>(), 1.0 / 16, 1e-3);
}

// Permutation matrices: after 500 tokens the state is the product, and far from any other.
TEST(TokenMatrix, MultipliesPermutations) {
  TokenMatrix layer = MakeLayer(2, 5);
  const Tensor swap = torch::tensor({1, 0, 2, 3, 4}, torch::kInt64),
               turn = torch::tensor({1, 2, 3, 4, 0}, torch::kInt64);
  torch::NoGradGuard no_grad;
  const Tensor eye = torch::eye(5);
  layer->named_parameters()["A"].copy_(torch::stack({eye.index_select(0, swap), eye.index_select(0, turn)}));
  torch::manual_seed(2);
  const Tensor ids = torch::randint(2, {500}, torch::kInt64);
  MixerState state;
  layer->forward(torch::zeros({500, 6}), Sequences::Single(500).WithIds(ids), &state);
  Tensor product = torch::arange(5);
  for (int64_t t = 0; t < 500; ++t) product = product.index_select(0, ids[t].item<int64_t>() == 0 ? swap : turn);
  EXPECT_TRUE(torch::equal(state[0][0], eye.index_select(0, product)));
}

// Products beyond what a square holds in float are projected all the same.
TEST(TokenMatrix, LargeProductsStayFinite) {
  TokenMatrix layer = MakeLayer(1, 2);
  torch::NoGradGuard no_grad;
  layer->named_parameters()["A"].copy_(100 * torch::eye(2).unsqueeze(0));
  const Tensor ids = torch::zeros({15}, torch::kInt64);
  const Tensor y = layer->forward(torch::zeros({15, 6}), Sequences::Single(15).WithIds(ids));
  EXPECT_TRUE(torch::allclose(y[14], y[0], 1e-5));
}

TEST(TokenMatrix, NeedsTheTokens) {
  TokenMatrix layer = MakeLayer(2, 2);
  EXPECT_EQ(MessageOf([&] {
              layer->forward(torch::zeros({3, 6}), Sequences::Single(3));
            }),
            "[token_matrix] expected sequences that know their tokens, got none");
}

}  // namespace
}  // namespace lrnn
