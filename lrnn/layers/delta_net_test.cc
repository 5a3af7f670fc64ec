#include "lrnn/layers/delta_net.h"

#include <gmock/gmock.h>

#include "lrnn/base/message_of.h"

namespace lrnn {
namespace {

std::shared_ptr<SequenceMixer> Make(nlohmann::json changes) {
  nlohmann::json config = {{"hidden_size", 128}, {"num_heads", 4}, {"allow_neg_eigval", true}};
  config.update(changes);
  Rng rng(1, 0);
  return DeltaNetInfo().make(WithDefaults(DeltaNetInfo(), Fields(config, "config.json")), rng);
}

TEST(DeltaNet, Initialisation) {
  const auto layer = Make(nlohmann::json::object());
  const auto p = layer->named_parameters();
  const auto bound = [&](const std::string& name) { return p[name].abs().max().item<double>(); };
  EXPECT_NEAR(bound("q_proj.weight"), 0.02706, 2e-5);
  EXPECT_NEAR(bound("o_proj.weight"), 0.02706, 2e-5);
  EXPECT_NEAR(bound("b_proj.weight"), 0.03769, 3e-4);
  EXPECT_NEAR(p["k_proj.weight"].std().item<double>(), 0.02706 / std::sqrt(3.0), 3e-4);
  EXPECT_NEAR(bound("v_conv1d.weight"), 0.5, 0.01);
  EXPECT_TRUE(torch::equal(p["o_norm.weight"], torch::ones({32})));
  // The eigenvalue along k is about 1/2 at the start, and about 0 with the extended range.
  torch::NoGradGuard no_grad;
  auto& linear = dynamic_cast<LinearMixer&>(*layer);
  const torch::Tensor x = torch::randn({100, 128});
  EXPECT_NEAR(linear.Eigenvalues(x, ops::Sequences::Single(100)).mean().item<double>(), 0, 0.05);
}

TEST(DeltaNet, NamesAndShapesOfTheFieldsCheckpoints) {
  const auto layer = Make({{"use_gate", true}, {"expand_v", 2.0}});
  std::map<std::string, std::vector<int64_t>> shapes;
  for (const auto& item : layer->named_parameters()) shapes[item.key()] = item.value().sizes().vec();
  const std::map<std::string, std::vector<int64_t>> expected = {
      {"q_proj.weight", {128, 128}},    {"k_proj.weight", {128, 128}},    {"v_proj.weight", {256, 128}},
      {"b_proj.weight", {4, 128}},      {"q_conv1d.weight", {128, 1, 4}}, {"k_conv1d.weight", {128, 1, 4}},
      {"v_conv1d.weight", {256, 1, 4}}, {"g_proj.weight", {256, 128}},    {"o_norm.weight", {64}},
      {"o_proj.weight", {128, 256}}};
  EXPECT_EQ(shapes, expected);
}

TEST(DeltaNet, RefusesWhatItCannotDo) {
  const auto message = [&](const nlohmann::json& changes) { return MessageOf([&] { Make(changes); }); };
  EXPECT_THAT(message({{"num_heads", 5}}), testing::HasSubstr("field \"num_heads\": expected a divisor of 128"));
  EXPECT_THAT(message({{"qk_norm", "sum"}}), testing::HasSubstr("\"qk_norm\""));
}

}  // namespace
}  // namespace lrnn
