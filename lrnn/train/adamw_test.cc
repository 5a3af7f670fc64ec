// Against torch's own AdamW.
#include "lrnn/train/adamw.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/nn/utils/clip_grad.h>
#include <torch/optim/adamw.h>

#include "lrnn/base/message_of.h"

namespace lrnn {
namespace {

struct Net : torch::nn::Module {
  Net() {
    torch::manual_seed(1);
    a = register_parameter("a", torch::randn({5, 3}));
    b = register_parameter("b", torch::randn({7}));
    unused = register_parameter("unused", torch::randn({2}));
  }
  torch::Tensor Loss(int64_t step) { return (a.square().sum() * 0.3 + (b * (step + 1.0)).sin().sum()); }
  torch::Tensor a, b, unused;
};

TEST(AdamW, EqualsTorch) {
  Net ours, theirs;
  AdamW optimizer(ours, {"b"}, {.lr = 0, .beta1 = 0.9, .beta2 = 0.99, .eps = 1e-8, .weight_decay = 0.1});
  using torch::optim::AdamWOptions;
  std::vector<torch::optim::OptimizerParamGroup> groups;
  const auto group = [&](const torch::Tensor& parameter, double decay) {
    groups.emplace_back(
        std::vector<torch::Tensor>{parameter},
        std::make_unique<AdamWOptions>(AdamWOptions(0.01).betas({0.9, 0.99}).eps(1e-8).weight_decay(decay)));
  };
  group(theirs.a, 0.1);
  group(theirs.b, 0.0);
  torch::optim::AdamW expected(groups, AdamWOptions(0.01));
  for (int64_t step = 0; step < 20; ++step) {
    const double rate = 0.01 * static_cast<double>(step + 1);
    ours.Loss(step).backward();
    const double norm = optimizer.GradientNorm();
    optimizer.Step(step + 1, rate, 1, 2 / norm);  // norms are 3 to 30
    expected.zero_grad();
    theirs.Loss(step).backward();
    EXPECT_NEAR(torch::nn::utils::clip_grad_norm_({theirs.a, theirs.b}, 2), norm, 1e-5 * norm);
    for (auto& each : expected.param_groups()) static_cast<AdamWOptions&>(each.options()).lr(rate);
    expected.step();
  }
  EXPECT_TRUE(torch::allclose(ours.a, theirs.a, 1e-5, 1e-6));
  EXPECT_TRUE(torch::allclose(ours.b, theirs.b, 1e-5, 1e-6));
  EXPECT_TRUE(torch::equal(ours.unused, theirs.unused)) << "no gradient, no change";
  EXPECT_FALSE(ours.a.grad().defined()) << "gradients are cleared";
}

TEST(AdamW, StateHasTwoMeansForEachParameter) {
  const Net net;
  EXPECT_EQ(AdamW(net, {}, {}).State().size(), 6u);
  EXPECT_THAT(MessageOf([&] { AdamW(net, {"c"}, {}); }),
              testing::HasSubstr("expected 1 parameters without decay in the model, got 0"));
}

}  // namespace
}  // namespace lrnn
