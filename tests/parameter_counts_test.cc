// Models of the paper's size have as many parameters as the paper's own.
#include <gtest/gtest.h>

#include "lrnn/models/model.h"

namespace lrnn {
namespace {

int64_t ParameterCount(const char* layer, int64_t vocab_size) {
  const nlohmann::json config = {
      {"model_type", layer}, {"vocab_size", vocab_size}, {"hidden_size", 128}, {"num_hidden_layers", 2}};
  return Model(Fields(config, "test"), 1)->parameter_count();
}

TEST(ParameterCounts, Mlstm) {
  EXPECT_EQ(ParameterCount("mlstm", 3), 219792);
  EXPECT_EQ(ParameterCount("mlstm", 10), 221584);
  EXPECT_EQ(ParameterCount("mlstm", 12), 222096);
}

TEST(ParameterCounts, Slstm) {
  EXPECT_EQ(ParameterCount("slstm", 3), 215680);
  EXPECT_EQ(ParameterCount("slstm", 10), 217472);
  EXPECT_EQ(ParameterCount("slstm", 12), 217984);
}

}  // namespace
}  // namespace lrnn
