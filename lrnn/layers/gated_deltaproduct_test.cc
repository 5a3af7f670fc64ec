#include "lrnn/layers/gated_deltaproduct.h"

#include <gmock/gmock.h>

#include "lrnn/base/message_of.h"
#include "lrnn/layers/gated_deltanet.h"
#include "lrnn/ops/gradient_check.h"

namespace lrnn {
namespace {

using ops::Sequences;

std::shared_ptr<SequenceMixer> Make(const LayerInfo& info, nlohmann::json changes) {
  nlohmann::json config = {{"hidden_size", 16}, {"num_heads", 2}, {"allow_neg_eigval", true}};
  config.update(changes);
  Rng rng(1, 0);
  return info.make(WithDefaults(info, Fields(config, "config.json")), rng);
}

TEST(GatedDeltaProduct, NamesAndShapesOfTheFieldsCheckpoints) {
  const auto shapes = [](const nlohmann::json& changes) {
    std::map<std::string, std::vector<int64_t>> all;
    for (const auto& item : Make(GatedDeltaProductInfo(), changes)->named_parameters()) {
      all[item.key()] = item.value().sizes().vec();
    }
    return all;
  };
  std::map<std::string, std::vector<int64_t>> expected = {
      {"q_proj.weight", {16, 16}},     {"k_proj.weight", {48, 16}},     {"v_proj.weight", {96, 16}},
      {"b_proj.weight", {6, 16}},      {"q_conv1d.weight", {16, 1, 4}}, {"k_conv1d.weight", {48, 1, 4}},
      {"v_conv1d.weight", {96, 1, 4}}, {"g_proj.weight", {32, 16}},     {"o_norm.weight", {16}},
      {"o_proj.weight", {16, 32}}};
  EXPECT_EQ(shapes({{"num_householder", 3}}), expected);
  expected.merge(
      std::map<std::string, std::vector<int64_t>>{{"a_proj.weight", {2, 16}}, {"A_log", {2}}, {"dt_bias", {2}}});
  EXPECT_EQ(shapes({{"num_householder", 3}, {"use_forget_gate", true}}), expected);
  EXPECT_THAT(shapes({{"use_output_gate", false}}), testing::Not(testing::Contains(testing::Key("g_proj.weight"))));
}

TEST(GatedDeltaProduct, OfOneStepIsGatedDeltaNet) {
  const auto product = Make(GatedDeltaProductInfo(), {{"use_forget_gate", true}}),
             net = Make(GatedDeltaNetInfo(), nlohmann::json::object());
  torch::NoGradGuard no_grad;
  const torch::Tensor x = torch::randn({9, 16});
  EXPECT_TRUE(torch::equal(product->forward(x, Sequences::Single(9)), net->forward(x, Sequences::Single(9))));
}

// Three projections of the plane on lines 60 degrees apart turn a vector round: -1/8 of it comes back.
TEST(GatedDeltaProduct, ThreeStepsLeaveTheOriginalRange) {
  const auto range = [](int64_t steps, bool extended) {
    const auto layer = Make(GatedDeltaProductInfo(), {{"num_householder", steps}, {"allow_neg_eigval", extended}});
    return dynamic_cast<LinearMixer&>(*layer).eigenvalue_range();
  };
  EXPECT_EQ(range(2, false), (EigenvalueRange{0, 1}));
  EXPECT_EQ(range(3, false), (EigenvalueRange{-1, 1}));
  EXPECT_EQ(range(2, true), (EigenvalueRange{-1, 1}));
  torch::Tensor product = torch::eye(2, torch::kFloat64);
  for (double angle : {0.0, M_PI / 3, 2 * M_PI / 3}) {
    const torch::Tensor k = torch::tensor({std::cos(angle), std::sin(angle)}, torch::kFloat64);
    product = (torch::eye(2, torch::kFloat64) - torch::outer(k, k)).mm(product);
  }
  EXPECT_NEAR(torch::real(torch::linalg_eigvals(product)).min().item<double>(), -0.125, 1e-12);
}

TEST(GatedDeltaProduct, RefusesWhatItCannotDo) {
  EXPECT_THAT(MessageOf([] {
                Make(GatedDeltaProductInfo(), {{"num_householder", 0}});
              }),
              testing::HasSubstr("field \"num_householder\": expected a positive integer, got 0"));
}

}  // namespace
}  // namespace lrnn
