#include "lrnn/io/mamba2_config.h"

#include <gtest/gtest.h>

#include "lrnn/base/message_of.h"

namespace lrnn {
namespace {

Mamba2Config Read(const nlohmann::json& changes = nlohmann::json::object()) {
  nlohmann::json config = {{"hidden_size", 24}, {"num_heads", 6}, {"n_groups", 2}, {"state_size", 5}};
  config.update(changes);
  return Mamba2Config(Fields(config, "config.json"));
}

TEST(Mamba2Config, Sizes) {
  const Mamba2Config config = Read();
  EXPECT_EQ(config.head_width, 8);
  EXPECT_EQ(config.inner(), 48);
  EXPECT_EQ(config.convolved(), 48 + 2 * 2 * 5);
  EXPECT_EQ(Read({{"head_dim", 8}}).head_width, 8);
  // Of mamba2-130m.
  EXPECT_EQ(Read({{"hidden_size", 768}, {"num_heads", 24}, {"n_groups", 1}, {"state_size", 128}}).convolved(), 1792);
}

TEST(Mamba2Config, NamesTheFieldThatIsWrong) {
  const auto message = [](const nlohmann::json& changes) { return MessageOf([&] { Read(changes); }); };
  const std::string place = "config.json: field ";
  EXPECT_EQ(message({{"num_heads", 5}}),
            place + R"("num_heads": expected a divisor of 48 (hidden_size times expand), got 5)");
  EXPECT_EQ(message({{"head_dim", 64}}),
            place + R"("head_dim": expected 8 (hidden_size times expand / num_heads), got 64)");
  EXPECT_EQ(message({{"n_groups", 4}}), place + R"("n_groups": expected a divisor of 6 (num_heads), got 4)");
  EXPECT_EQ(message({{"expand", 0}}), place + R"("expand": expected a number that makes the width at least 1, got 0)");
  EXPECT_EQ(message({{"rms_norm", false}}), place + R"("rms_norm": expected true, got false)");
  EXPECT_EQ(message({{"hidden_act", "gelu"}}), place + R"("hidden_act": expected "silu", got "gelu")");
  EXPECT_EQ(message({{"state_size", 0}}), place + R"("state_size": expected a positive integer, got 0)");
}

}  // namespace
}  // namespace lrnn
