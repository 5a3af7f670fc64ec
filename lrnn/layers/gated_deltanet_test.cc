#include "lrnn/layers/gated_deltanet.h"

#include <gmock/gmock.h>

#include "lrnn/base/message_of.h"

namespace lrnn {
namespace {

std::shared_ptr<SequenceMixer> Make(nlohmann::json changes) {
  nlohmann::json config = {{"hidden_size", 128}, {"num_heads", 4}};
  config.update(changes);
  Rng rng(1, 0);
  return GatedDeltaNetInfo().make(WithDefaults(GatedDeltaNetInfo(), Fields(config, "config.json")), rng);
}

TEST(GatedDeltaNet, NamesAndShapesOfTheFieldsCheckpoints) {
  const auto layer = Make({{"head_dim", 16}, {"num_v_heads", 8}});
  std::map<std::string, std::vector<int64_t>> shapes;
  for (const auto& item : layer->named_parameters()) shapes[item.key()] = item.value().sizes().vec();
  const std::map<std::string, std::vector<int64_t>> expected = {{"q_proj.weight", {64, 128}},
                                                                {"k_proj.weight", {64, 128}},
                                                                {"v_proj.weight", {256, 128}},
                                                                {"a_proj.weight", {8, 128}},
                                                                {"b_proj.weight", {8, 128}},
                                                                {"A_log", {8}},
                                                                {"dt_bias", {8}},
                                                                {"q_conv1d.weight", {64, 1, 4}},
                                                                {"k_conv1d.weight", {64, 1, 4}},
                                                                {"v_conv1d.weight", {256, 1, 4}},
                                                                {"g_proj.weight", {256, 128}},
                                                                {"o_norm.weight", {32}},
                                                                {"o_proj.weight", {128, 256}}};
  EXPECT_EQ(shapes, expected);
  EXPECT_THAT(layer->WithoutWeightDecay(), testing::ElementsAre("A_log", "dt_bias"));
}

// exp(A_log) ~ U(0, 16); softplus(dt_bias) log-uniform over [0.001, 0.1]; matrices Xavier-uniform with gain 2^-2.5.
TEST(GatedDeltaNet, Initialisation) {
  const auto layer = Make({{"num_heads", 1}, {"num_v_heads", 2000}, {"head_dim", 1}, {"expand_v", 1}});
  const auto p = layer->named_parameters();
  const torch::Tensor A = torch::exp(p["A_log"]), dt = torch::softplus(p["dt_bias"]);
  EXPECT_GE(A.min().item<double>(), 0);
  EXPECT_LE(A.max().item<double>(), 16.001);
  EXPECT_NEAR(A.mean().item<double>(), 8, 0.4);
  EXPECT_NEAR(A.std().item<double>(), 16 / std::sqrt(12.0), 0.2);
  EXPECT_GE(dt.min().item<double>(), 0.000999);
  EXPECT_LE(dt.max().item<double>(), 0.1001);
  EXPECT_NEAR(torch::log(dt).mean().item<double>(), std::log(0.01), 0.1);
  EXPECT_NEAR(torch::log(dt).std().item<double>(), std::log(100.0) / std::sqrt(12.0), 0.06);

  const auto square = Make({{"expand_v", 1}})->named_parameters();
  for (const char* name : {"q_proj.weight", "v_proj.weight", "g_proj.weight", "o_proj.weight"}) {
    EXPECT_NEAR(square[name].abs().max().item<double>(), 0.02706, 2e-5) << name;
  }
  EXPECT_NEAR(square["a_proj.weight"].abs().max().item<double>(), 0.03769, 3e-4);
  EXPECT_NEAR(square["k_conv1d.weight"].abs().max().item<double>(), 0.5, 0.01);
}

TEST(GatedDeltaNet, RefusesWhatItCannotDo) {
  EXPECT_THAT(MessageOf([] {
                Make({{"num_v_heads", 6}});
              }),
              testing::HasSubstr("field \"num_v_heads\": expected a multiple of 4 (num_heads), got 6"));
}

}  // namespace
}  // namespace lrnn
