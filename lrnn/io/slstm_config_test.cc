#include "lrnn/io/slstm_config.h"

#include <gtest/gtest.h>

#include "lrnn/base/message_of.h"

namespace lrnn {
namespace {

SlstmConfig Read(const nlohmann::json& changes = nlohmann::json::object()) {
  nlohmann::json config = {{"hidden_size", 128}};
  config.update(changes);
  return SlstmConfig(Fields(config, "config.json"));
}

TEST(SlstmConfig, Sizes) {
  EXPECT_EQ(Read().head_width, 32);
  EXPECT_EQ(Read().ffn_inner, 192);  // 166, rounded up
  EXPECT_EQ(Read({{"num_heads", 2}, {"ffn_proj_factor", 2}}).ffn_inner, 256);
  EXPECT_EQ(Read({{"hidden_size", 12}, {"round_proj_up_to_multiple_of", 8}, {"num_heads", 3}}).ffn_inner, 16);
}

TEST(SlstmConfig, NamesTheFieldThatIsWrong) {
  const auto message = [](const nlohmann::json& changes) { return MessageOf([&] { Read(changes); }); };
  const std::string place = "config.json: field ";
  EXPECT_EQ(message({{"num_heads", 3}}), place + R"("num_heads": expected a divisor of 128 (hidden_size), got 3)");
  EXPECT_EQ(message({{"ffn_proj_factor", -1}}),
            place + R"("ffn_proj_factor": expected a number that makes the width at least 1, got -1)");
  EXPECT_EQ(message({{"round_proj_up_to_multiple_of", 0}}),
            place + R"("round_proj_up_to_multiple_of": expected a positive integer, got 0)");
}

}  // namespace
}  // namespace lrnn
