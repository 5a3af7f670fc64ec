#include "lrnn/io/head_width.h"

#include <gtest/gtest.h>

#include "lrnn/base/message_of.h"

namespace lrnn {
namespace {

Fields Config(const nlohmann::json& changes = nlohmann::json::object()) {
  nlohmann::json config = {{"hidden_size", 12}, {"num_heads", 3}};
  config.update(changes);
  return Fields(config, "config.json");
}

TEST(HeadWidth, IsTheExpandedWidthOfOneHead) {
  EXPECT_EQ(HeadWidth(Config(), "expand_k", 0.5), 2);
  EXPECT_EQ(HeadWidth(Config({{"expand_k", 2.0}}), "expand_k", 0.5), 8);
  EXPECT_EQ(HeadWidth(Config({{"hidden_size", 15}, {"expand_k", 0.45}}), "expand_k", 1), 2);  // 6.75 counts as 6
}

TEST(HeadWidth, NamesTheFieldThatIsWrong) {
  const auto message = [](const nlohmann::json& changes) {
    return MessageOf([&] { HeadWidth(Config(changes), "expand_k", 1); });
  };
  EXPECT_EQ(message({{"num_heads", 5}}),
            R"(config.json: field "num_heads": expected a divisor of 12 (hidden_size times expand_k), got 5)");
  const std::string width = R"(config.json: field "expand_k": expected a number that makes the width at least 1, got )";
  EXPECT_EQ(message({{"expand_k", 0.01}}), width + "0.01");
  EXPECT_EQ(message({{"expand_k", 1e300}}), width + "1e+300");
  EXPECT_EQ(message({{"num_heads", nullptr}}), R"(config.json: field "num_heads" is missing)");
}

}  // namespace
}  // namespace lrnn
