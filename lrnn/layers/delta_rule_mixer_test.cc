// The delta-rule layers against their equations, written out with plain torch operations; the eigenvalues they report.
#include "lrnn/layers/delta_rule_mixer.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "lrnn/ops/gradient_check.h"

namespace lrnn {
namespace {

using ops::Sequences;
using torch::Tensor;

DeltaRuleConfig Config() {
  return {.width = 12,
          .heads = 3,
          .value_heads = 3,
          .key_width = 4,
          .value_width = 5,
          .householders = 1,
          .conv_width = 4,
          .silu_qk = true,
          .has_decay = false,
          .has_output_gate = false,
          .allow_neg_eigval = true,
          .beta_margin = 0,
          .margin_in_training = true,
          .norm_eps = 1e-6};
}

// One sequence, token by token, from the equations of delta_rule_mixer.h.
Tensor Equations(const DeltaRuleMixer& layer, const DeltaRuleConfig& c, const Tensor& x) {
  const auto p = layer.named_parameters();
  const int64_t T = x.size(0), H = c.value_heads, n_h = c.householders;
  const auto linear = [&](const std::string& name) { return x.matmul(p[name + ".weight"].t()); };
  const auto project = [&](const std::string& name, bool silu) {
    Tensor z = linear(name + "_proj");
    if (c.conv_width > 0) {
      const Tensor w = p[name + "_conv1d.weight"].squeeze(1);  // [C, W]
      const Tensor padded = torch::cat({torch::zeros({w.size(1) - 1, z.size(1)}, z.options()), z});
      Tensor sum = torch::zeros_like(z);
      for (int64_t tap = 0; tap < w.size(1); ++tap) sum = sum + w.select(1, tap) * padded.slice(0, tap, tap + T);
      z = sum;
    }
    return silu ? torch::silu(z) : z;
  };
  const auto unit = [](const Tensor& z) { return z / torch::sqrt(z.square().sum(-1, true) + 1e-6); };
  const Tensor q = unit(project("q", c.silu_qk).view({T, c.heads, c.key_width}));
  const Tensor k = unit(project("k", c.silu_qk).view({T, n_h, c.heads, c.key_width}));
  const Tensor v = project("v", true).view({T, n_h, H, c.value_width});
  const Tensor stretched = torch::sigmoid(linear("b_proj")) * (1 + 2 * c.beta_margin) - c.beta_margin;
  const Tensor beta = (c.allow_neg_eigval ? 2 : 1) * stretched.clamp(0, 1).view({T, n_h, H});
  std::vector<Tensor> rows;
  std::vector<Tensor> S(H, torch::zeros({c.key_width, c.value_width}, x.options()));
  for (int64_t t = 0; t < T; ++t) {
    std::vector<Tensor> heads;
    for (int64_t h = 0; h < H; ++h) {
      const int64_t key_head = h / (H / c.heads);
      if (c.has_decay) {
        const Tensor dt = torch::softplus(linear("a_proj")[t][h] + p["dt_bias"][h]);
        S[h] = torch::exp(-torch::exp(p["A_log"][h]) * dt) * S[h];
      }
      for (int64_t j = 0; j < n_h; ++j) {
        const Tensor key = k[t][j][key_head], e = v[t][j][h] - S[h].t().mv(key);
        S[h] = S[h] + beta[t][j][h] * torch::outer(key, e);
      }
      const Tensor o = S[h].t().mv(q[t][key_head]) / std::sqrt(static_cast<double>(c.key_width));
      heads.push_back(o / torch::sqrt(o.square().mean() + c.norm_eps) * p["o_norm.weight"]);
    }
    Tensor o = torch::cat(heads);
    if (c.has_output_gate) o = o * torch::silu(linear("g_proj")[t]);
    rows.push_back(p["o_proj.weight"].mv(o));
  }
  return torch::stack(rows);
}

void ExpectEquations(const DeltaRuleConfig& config) {
  Rng rng(1, 0);
  DeltaRuleMixer layer(config, rng);
  layer.to(torch::kFloat64);
  torch::manual_seed(1);
  const Tensor x = torch::randn({11, config.width}, torch::kFloat64);
  torch::NoGradGuard no_grad;
  EXPECT_LT(ops::RelativeError(layer.forward(x, Sequences::Single(11)), Equations(layer, config, x)), 1e-12);
}

TEST(DeltaRuleMixer, EqualsItsEquations) {
  for (bool extended : {false, true}) {
    for (int64_t conv_width : {0, 4}) {
      for (bool silu_qk : {false, true}) {
        for (bool gated : {false, true}) {
          SCOPED_TRACE(fmt::format("extended {}, conv {}, silu {}, gated {}", extended, conv_width, silu_qk, gated));
          DeltaRuleConfig config = Config();
          config.allow_neg_eigval = extended;
          config.conv_width = conv_width;
          config.silu_qk = silu_qk;
          config.has_decay = config.has_output_gate = gated;
          ExpectEquations(config);
        }
      }
    }
  }
}

TEST(DeltaRuleMixer, EqualsItsEquationsWithSeveralStepsAndSharedKeys) {
  for (int64_t householders : {1, 2, 4}) {
    for (bool gated : {false, true}) {
      SCOPED_TRACE(fmt::format("{} steps, gated {}", householders, gated));
      DeltaRuleConfig config = Config();
      config.householders = householders;
      config.has_decay = gated;
      ExpectEquations(config);
      config.value_heads = 6;
      ExpectEquations(config);
    }
  }
}

TEST(DeltaRuleMixer, EqualsItsEquationsWithAMargin) {
  for (bool extended : {false, true}) {
    DeltaRuleConfig config = Config();
    config.householders = 2;
    config.allow_neg_eigval = extended;
    config.beta_margin = 0.2;
    ExpectEquations(config);
  }
}

TEST(DeltaRuleMixer, AMarginMayCountInUseOnly) {
  DeltaRuleConfig config = Config();
  config.beta_margin = 0.2;
  config.margin_in_training = false;
  const Tensor z = torch::linspace(-3, 3, 7, torch::kFloat64);
  const Tensor s = torch::sigmoid(z);
  EXPECT_TRUE(torch::equal(DeltaRuleBeta(z, config, /*in_training=*/true), 2 * s));
  const Tensor stretched = 2 * (1.4 * s - 0.2).clamp(0, 1);
  EXPECT_TRUE(torch::equal(DeltaRuleBeta(z, config, /*in_training=*/false), stretched));
  config.margin_in_training = true;
  EXPECT_TRUE(torch::equal(DeltaRuleBeta(z, config, /*in_training=*/true), stretched));

  // The layer does as torch's train() and eval() say.
  config.margin_in_training = false;
  Rng rng(1, 0);
  DeltaRuleMixer layer(config, rng);
  layer.to(torch::kFloat64);
  torch::NoGradGuard no_grad;
  torch::manual_seed(1);
  const Tensor x = 5 * torch::randn({1, 12}, torch::kFloat64);
  const auto beta = [&] { return 1 - layer.Eigenvalues(x, Sequences::Single(1)); };
  layer.train();
  const Tensor training = beta();
  layer.eval();
  const Tensor use = beta();
  EXPECT_TRUE(torch::allclose(use, (1.4 * training - 0.4).clamp(0, 2), 1e-4, 1e-4));
  EXPECT_FALSE(torch::allclose(use, training, 1e-4, 1e-4));
}

// W_b x = 6 is 0.9975 of the way to the end. Without a margin the state shrinks to 0.08 of itself in 512 tokens, with
// one it does not.
TEST(DeltaRuleMixer, WithAMarginReflectionsAreExact) {
  for (double margin : {0.0, 0.01}) {
    DeltaRuleConfig config = Config();
    config.conv_width = 0;
    config.beta_margin = margin;
    Rng rng(1, 0);
    DeltaRuleMixer layer(config, rng);
    layer.to(torch::kFloat64);
    torch::NoGradGuard no_grad;
    layer.named_parameters()["b_proj.weight"].fill_(0.5);
    layer.named_parameters()["k_proj.weight"].mul_(1000);  // the epsilon of the keys' norm is nothing to it
    const Tensor x = torch::ones({1, 12}, torch::kFloat64);
    const Tensor largest = layer.Eigenvalues(x, Sequences::Single(1)),
                 least = layer.Eigenvalues(-x, Sequences::Single(1));
    const double left = std::pow(largest.abs().min().item<double>(), 512);
    if (margin > 0) {
      EXPECT_NEAR(left, 1, 1e-3);
      EXPECT_EQ(least.min().item<double>(), 1);
    } else {
      EXPECT_NEAR(left, 0.08, 0.01);
      EXPECT_LT(least.max().item<double>(), 1);
    }
  }
}

// Whatever Eigenvalues leaves out is 1, or the decay.
TEST(DeltaRuleMixer, ReportedEigenvaluesAreThoseOfTheTransitions) {
  for (int64_t householders : {1, 2, 3}) {
    for (bool gated : {false, true}) {
      SCOPED_TRACE(fmt::format("{} steps, gated {}", householders, gated));
      DeltaRuleConfig config = Config();
      config.householders = householders;
      config.has_decay = gated;
      Rng rng(1, 0);
      DeltaRuleMixer layer(config, rng);
      layer.to(torch::kFloat64);
      torch::NoGradGuard no_grad;
      torch::manual_seed(1);
      const auto one = Sequences::Single(1);
      const Tensor x = 5 * torch::randn({1, 12}, torch::kFloat64);
      const Tensor reported = layer.Eigenvalues(x, one).to(torch::kComplexDouble);
      EXPECT_EQ(reported.sizes(), (std::vector<int64_t>{1, 3, householders + (gated ? 1 : 0)}));
      const Tensor all = torch::linalg_eigvals(layer.Transitions(x, one));  // [1, H, K]
      for (int64_t h = 0; h < 3; ++h) {
        // Sums and products of all of them: the trace and the determinant, whatever the order.
        const Tensor rest = gated ? reported[0][h][householders] : torch::ones({}, torch::kComplexDouble);
        const Tensor own = reported[0][h].slice(0, 0, householders);
        const auto others = static_cast<double>(4 - householders);
        EXPECT_LT((own.sum() + others * rest - all[0][h].sum()).abs().item<double>(), 1e-10);
        EXPECT_LT((own.prod() * rest.pow(others) - all[0][h].prod()).abs().item<double>(), 1e-10);
      }
    }
  }
}

TEST(DeltaRuleMixer, StaysFiniteAtTheEndsOfItsGates) {
  for (double end : {-80.0, 80.0}) {
    DeltaRuleConfig config = Config();
    config.householders = 2;
    config.has_decay = config.has_output_gate = true;
    Rng rng(1, 0);
    DeltaRuleMixer layer(config, rng);
    torch::NoGradGuard no_grad;
    layer.named_parameters()["dt_bias"].fill_(end);
    const Tensor A = layer.Transitions(torch::zeros({1, 12}), Sequences::Single(1));
    EXPECT_NEAR(A.diagonal(0, 2, 3).max().item<double>(), end < 0 ? 1 : 0, 1e-6);  // never, always forgotten
    const Tensor x = end * torch::ones({100000, 12});
    EXPECT_TRUE(torch::isfinite(layer.forward(x, Sequences::Single(100000))).all().item<bool>());
    EXPECT_TRUE(torch::isfinite(layer.forward(torch::zeros({3, 12}), Sequences::Single(3))).all().item<bool>());
  }
}

}  // namespace
}  // namespace lrnn
