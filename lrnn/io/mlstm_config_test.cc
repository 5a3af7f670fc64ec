#include "lrnn/io/mlstm_config.h"

#include <gtest/gtest.h>

#include "lrnn/base/message_of.h"

namespace lrnn {
namespace {

MlstmConfig Read(const nlohmann::json& changes = nlohmann::json::object()) {
  nlohmann::json config = {{"hidden_size", 128}};
  config.update(changes);
  return MlstmConfig(Fields(config, "config.json"));
}

TEST(MlstmConfig, Sizes) {
  EXPECT_EQ(Read().inner, 256);
  EXPECT_EQ(Read().head_width, 64);
  EXPECT_EQ(Read({{"hidden_size", 24}}).inner, 64);  // 48, rounded up
  EXPECT_EQ(Read({{"hidden_size", 12}, {"round_proj_up_to_multiple_of", 12}, {"num_heads", 3}}).head_width, 8);
}

TEST(MlstmConfig, NamesTheFieldThatIsWrong) {
  const auto message = [](const nlohmann::json& changes) { return MessageOf([&] { Read(changes); }); };
  const std::string place = "config.json: field ";
  EXPECT_EQ(message({{"num_heads", 3}}), place + R"("num_heads": expected a divisor of 256 (the inner width), got 3)");
  EXPECT_EQ(message({{"qkv_proj_blocksize", 5}}),
            place + R"("qkv_proj_blocksize": expected a divisor of 256 (the inner width), got 5)");
  EXPECT_EQ(message({{"proj_factor", -1}}),
            place + R"("proj_factor": expected a number that makes the width at least 1, got -1)");
  EXPECT_EQ(message({{"conv1d_kernel_size", 0}}),
            place + R"("conv1d_kernel_size": expected a positive integer, got 0)");
}

}  // namespace
}  // namespace lrnn
