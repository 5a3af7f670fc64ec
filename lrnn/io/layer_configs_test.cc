#include "lrnn/io/layer_configs.h"

#include <gtest/gtest.h>

#include "lrnn/base/message_of.h"

namespace lrnn {
namespace {

Fields Hybrid(nlohmann::json changes) {
  nlohmann::json config = {{"model_type", "hybrid"}, {"hidden_size", 8}, {"num_heads", 4}};
  config.update(changes);
  return Fields(config, "config.json");
}

TEST(LayerConfigs, OfOneKindAreAllTheModelsOwn) {
  const Fields model({{"model_type", "gla"}, {"num_hidden_layers", 3}}, "config.json");
  const auto layers = LayerConfigs(model);
  ASSERT_EQ(layers.size(), 3u);
  EXPECT_EQ(layers[2].json(), model.json());
}

TEST(LayerConfigs, OfAHybridRepeatTheList) {
  const auto layers = LayerConfigs(
      Hybrid({{"num_hidden_layers", 4},
              {"layers", {"delta_net", {{"layer", "gla"}, {"num_heads", 2}, {"allow_neg_eigval", true}}}}}));
  ASSERT_EQ(layers.size(), 4u);
  for (size_t i : {0, 2}) {
    EXPECT_EQ(layers[i].String("model_type"), "delta_net");
    EXPECT_EQ(layers[i].Int("num_heads"), 4);
    EXPECT_FALSE(layers[i].Has("allow_neg_eigval"));
  }
  for (size_t i : {1, 3}) {
    EXPECT_EQ(layers[i].String("model_type"), "gla");
    EXPECT_EQ(layers[i].Int("num_heads"), 2);
    EXPECT_EQ(layers[i].Int("hidden_size"), 8);
    EXPECT_TRUE(layers[i].Bool("allow_neg_eigval"));
    EXPECT_FALSE(layers[i].Has("layers"));
    EXPECT_FALSE(layers[i].Has("layer"));
  }
  EXPECT_EQ(LayerConfigs(Hybrid({{"layers", {"mamba", "gla", "gla"}}})).size(), 3u);
}

TEST(LayerConfigs, Errors) {
  const auto message = [](nlohmann::json changes) { return MessageOf([&] { LayerConfigs(Hybrid(changes)); }); };
  EXPECT_EQ(message(nlohmann::json::object()), "config.json: field \"layers\" is missing");
  EXPECT_EQ(message({{"layers", nlohmann::json::array()}}),
            "config.json: field \"layers\": expected a list of layers, got []");
  EXPECT_EQ(message({{"layers", "gla"}}), "config.json: field \"layers\": expected a list of layers, got \"gla\"");
  EXPECT_EQ(message({{"layers", {"gla", "mamba", "gla"}}, {"num_hidden_layers", 4}}),
            "config.json: field \"num_hidden_layers\": expected a multiple of 3 (the number of \"layers\"), got 4");
  EXPECT_EQ(message({{"layers", {"gla", "gla", "gla"}}, {"num_hidden_layers", 2}}),
            "config.json: field \"num_hidden_layers\": expected a multiple of 3 (the number of \"layers\"), got 2");
  EXPECT_EQ(message({{"layers", {"gla", 3}}}),
            "config.json: layers[1]: expected the name of a layer or an object with its name as \"layer\", got 3");
  EXPECT_EQ(MessageOf([] {
              LayerConfigs(Hybrid({{"layers", nlohmann::json::array({{{"layer", "gla"}, {"num_heads", "x"}}})}}))[0]
                  .PositiveInt("num_heads");
            }),
            "config.json: layers[0]: field \"num_heads\": expected a positive integer, got \"x\"");
}

}  // namespace
}  // namespace lrnn
