#include "lrnn/io/delta_rule_config.h"

#include <gtest/gtest.h>

#include "lrnn/base/message_of.h"

namespace lrnn {
namespace {

Fields Config(const nlohmann::json& changes = nlohmann::json::object()) {
  nlohmann::json config = {{"hidden_size", 24}, {"num_heads", 4}};
  config.update(changes);
  return Fields(config, "config.json");
}

TEST(DeltaRuleConfig, DeltaNet) {
  const DeltaRuleConfig sizes = ReadDeltaNet(Config({{"expand_v", 2.0}, {"use_gate", true}}));
  EXPECT_EQ(sizes.keys(), 24);
  EXPECT_EQ(sizes.values(), 48);
  EXPECT_EQ(sizes.householders, 1);
  EXPECT_EQ(sizes.conv_width, 4);
  EXPECT_TRUE(sizes.silu_qk && sizes.has_output_gate);
  EXPECT_FALSE(sizes.has_decay || sizes.allow_neg_eigval);
  EXPECT_FALSE(ReadDeltaNet(Config({{"qk_activation", "identity"}})).silu_qk);
}

TEST(DeltaRuleConfig, GatedLayersHaveAHeadWidthOfTheirOwn) {
  const DeltaRuleConfig sizes =
      ReadGatedDeltaNet(Config({{"head_dim", 5}, {"expand_v", 1.5}, {"num_v_heads", 8}, {"use_short_conv", false}}));
  EXPECT_EQ(sizes.keys(), 20);
  EXPECT_EQ(sizes.value_width, 7);
  EXPECT_EQ(sizes.values(), 56);
  EXPECT_EQ(sizes.conv_width, 0);
  EXPECT_TRUE(sizes.has_decay && sizes.has_output_gate);
  EXPECT_EQ(ReadGatedDeltaNet(Config()).key_width, 6);
}

TEST(DeltaRuleConfig, DeltaProductHasItsSwitches) {
  const DeltaRuleConfig plain = ReadGatedDeltaProduct(Config());
  EXPECT_EQ(plain.householders, 1);
  EXPECT_FALSE(plain.has_decay);
  EXPECT_TRUE(plain.has_output_gate);
  const DeltaRuleConfig gated =
      ReadGatedDeltaProduct(Config({{"num_householder", 3}, {"use_forget_gate", true}, {"use_output_gate", false}}));
  EXPECT_EQ(gated.householders, 3);
  EXPECT_TRUE(gated.has_decay);
  EXPECT_FALSE(gated.has_output_gate);
}

TEST(DeltaRuleConfig, Errors) {
  const auto delta = [](nlohmann::json changes) { return MessageOf([&] { ReadDeltaNet(Config(changes)); }); };
  const auto gated = [](nlohmann::json changes) { return MessageOf([&] { ReadGatedDeltaNet(Config(changes)); }); };
  const std::string place = "config.json: field ";
  EXPECT_EQ(delta({{"qk_activation", "relu"}}),
            place + R"("qk_activation": expected "silu" or "identity", got "relu")");
  EXPECT_EQ(delta({{"qk_norm", "sum"}}), place + R"("qk_norm": expected "l2", got "sum")");
  EXPECT_EQ(delta({{"beta_margin", -0.1}}), place + R"("beta_margin": expected a number from 0 to 1, got -0.1)");
  EXPECT_EQ(delta({{"use_beta", false}}), place + R"("use_beta": expected true, got false)");
  EXPECT_EQ(delta({{"attn", {{"layers", {0}}}}}),
            place + R"("attn": expected null (no attention layers), got {"layers":[0]})");
  EXPECT_EQ(delta({{"num_heads", 5}}),
            place + R"("num_heads": expected a divisor of 24 (hidden_size times expand_k), got 5)");
  EXPECT_EQ(delta({{"conv_size", 0}}), place + R"("conv_size": expected a positive integer, got 0)");
  EXPECT_EQ(gated({{"num_heads", 5}}),
            place + R"("num_heads": expected a divisor of 24 (hidden_size) where there is no head_dim, got 5)");
  EXPECT_EQ(gated({{"num_v_heads", 6}}), place + R"("num_v_heads": expected a multiple of 4 (num_heads), got 6)");
  EXPECT_EQ(gated({{"expand_v", 0.1}}),
            place + R"("expand_v": expected a number that makes the width at least 1, got 0.1)");
  EXPECT_EQ(MessageOf([] {
              ReadGatedDeltaProduct(Config({{"num_householder", 0}}));
            }),
            place + R"("num_householder": expected a positive integer, got 0)");
}

}  // namespace
}  // namespace lrnn
