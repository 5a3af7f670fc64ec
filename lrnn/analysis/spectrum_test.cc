#include "lrnn/analysis/spectrum.h"

#include <gmock/gmock.h>

#include <limits>
#include <numeric>

#include "lrnn/layers/registry.h"
#include "lrnn/tasks/parity.h"

namespace lrnn {
namespace {

Model SmallModel(const std::string& type, bool extended) {
  return Model(Fields({{"model_type", type},
                       {"vocab_size", 3},
                       {"hidden_size", 8},
                       {"num_hidden_layers", 2},
                       {"allow_neg_eigval", extended}},
                      "test"),
               3);
}

TEST(Spectrum, CountsEveryEigenvalueOnceInsideTheDeclaredRange) {
  for (const LayerInfo& layer : Layers()) {
    if (!layer.is_linear()) continue;
    for (bool extended : {false, true}) {
      SCOPED_TRACE(layer.name + (extended ? " extended" : " original"));
      Model model = SmallModel(layer.name, extended);
      const Spectrum spectrum = MeasureSpectrum(model, Parity(), {5, 30}, 20, 1);
      ASSERT_EQ(spectrum.layers.size(), 2u);
      EXPECT_GT(spectrum.tokens, 20 * 4);
      for (const LayerSpectrum& each : spectrum.layers) {
        ASSERT_EQ(each.edges.size(), each.counts.size() + 1);
        EXPECT_DOUBLE_EQ(each.edges.front(), -1);
        EXPECT_DOUBLE_EQ(each.edges.back(), 1);
        const int64_t total = std::accumulate(each.counts.begin(), each.counts.end(), int64_t{0});
        EXPECT_EQ(total % spectrum.tokens, 0) << "the same number for every token";
        EXPECT_GT(total, 0);
        EXPECT_GE(each.min, spectrum.range.low - 1e-5);
        EXPECT_LE(each.max, spectrum.range.high + 1e-5);
        int64_t below = 0;
        for (size_t bin = 0; bin < each.counts.size(); ++bin)
          below += each.edges[bin + 1] <= 1e-12 ? each.counts[bin] : 0;
        EXPECT_NEAR(each.share_negative, static_cast<double>(below) / static_cast<double>(total), 1e-12);
      }
      // The decays of most layers start close to 1, even where they may be negative.
      if (layer.name == "delta_net" || layer.name == "mamba") {
        EXPECT_EQ(spectrum.layers[0].share_negative > 0, extended);
      }
    }
  }
}

TEST(Spectrum, JsonOfARangeWithoutBounds) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const nlohmann::json json = ToJson({"parity", {-kInfinity, kInfinity}, 1, {{0, {-1, 1}, {2}, -3.0, 0.5, 0.5}}});
  EXPECT_EQ(json.at("range"), (std::vector<double>{-3, 1}));
}

TEST(Spectrum, Json) {
  Model model = SmallModel("delta_net", true);
  const nlohmann::json json = ToJson(MeasureSpectrum(model, Parity(), {5, 9}, 3, 1));
  EXPECT_EQ(json.at("format"), "lrnn.spectrum");
  EXPECT_EQ(json.at("task"), "parity");
  EXPECT_EQ(json.at("range"), (std::vector<double>{-1, 1}));
  EXPECT_EQ(json.at("layers").size(), 2u);
  EXPECT_EQ(json.at("layers")[1].at("layer"), 1);
}

}  // namespace
}  // namespace lrnn
