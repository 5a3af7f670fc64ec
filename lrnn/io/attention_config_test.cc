#include "lrnn/io/attention_config.h"

#include <gtest/gtest.h>

#include "lrnn/base/message_of.h"

namespace lrnn {
namespace {

AttentionConfig Make(nlohmann::json changes = nlohmann::json::object()) {
  nlohmann::json config = {{"hidden_size", 12}, {"num_heads", 3}};
  config.update(changes);
  return AttentionConfig(Fields(config, "config.json"));
}

TEST(AttentionConfig, HeadsShareTheWidth) {
  EXPECT_EQ(Make().heads, 3);
  EXPECT_EQ(Make().head_width, 4);
  EXPECT_EQ(Make().rope_theta, 10000);
  EXPECT_EQ(Make({{"rope_theta", 50}}).rope_theta, 50);
  EXPECT_EQ(Make({{"num_kv_heads", 3}, {"window_size", nullptr}}).heads, 3);
}

TEST(AttentionConfig, RefusesWhatCannotBeRun) {
  const auto message = [](const nlohmann::json& changes) { return MessageOf([&] { Make(changes); }); };
  const std::string place = "config.json: field ";
  EXPECT_EQ(message({{"num_heads", 4}}),
            place + "\"num_heads\": expected heads of an even width (hidden_size 12), got 4");
  EXPECT_EQ(message({{"num_heads", 5}}),
            place + "\"num_heads\": expected heads of an even width (hidden_size 12), got 5");
  EXPECT_EQ(message({{"rope_theta", 0}}), place + "\"rope_theta\": expected a positive number, got 0");
  EXPECT_EQ(message({{"num_kv_heads", 1}}), place + "\"num_kv_heads\": expected num_heads or null, got 1");
  EXPECT_EQ(message({{"window_size", 8}}), place + "\"window_size\": expected null, got 8");
  EXPECT_EQ(message({{"qkv_bias", true}}), place + "\"qkv_bias\": expected false, got true");
  EXPECT_EQ(message({{"qk_norm", true}}), place + "\"qk_norm\": expected false, got true");
}

}  // namespace
}  // namespace lrnn
