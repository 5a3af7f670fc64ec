#include "lrnn/analysis/spectrum.h"

#include <gmock/gmock.h>

#include <limits>
#include <numeric>

#include "lrnn/layers/registry.h"
#include "lrnn/models/parity_model.h"
#include "lrnn/tasks/parity.h"
#include "lrnn/tasks/registry.h"

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

// beta of the written-down model is 0 at the bit 0 and 2 at the bit 1.
TEST(Spectrum, OfEachLetter) {
  Model model = ParityModel(/*epsilon=*/0, /*boundary=*/2);
  const Spectrum spectrum = MeasureSpectrum(model, Parity(), {40, 60}, 10, 1);
  const LayerSpectrum& layer = spectrum.layers.at(0);
  ASSERT_EQ(layer.letters.size(), 2u);
  EXPECT_EQ(layer.letters[0].letter, "0");
  EXPECT_EQ(layer.letters[1].letter, "1");
  EXPECT_NEAR(layer.letters[0].all.min, 1, 1e-6);
  EXPECT_NEAR(layer.letters[1].all.max, -1, 1e-6);
  EXPECT_EQ(layer.letters[1].all.share_negative(), 1);
  EXPECT_EQ(layer.letters[0].all.count + layer.letters[1].all.count, spectrum.tokens);
  EXPECT_EQ(layer.letters[0].counts.back(), layer.letters[0].all.count);
  EXPECT_EQ(layer.letters[1].counts.front(), layer.letters[1].all.count);
  ASSERT_EQ(layer.heads.size(), 1u);
  EXPECT_EQ(layer.heads[0].count, spectrum.tokens);

  const nlohmann::json json = DetailsJson(spectrum);
  EXPECT_EQ(json.at("layers")[0].at("letters")[1].at("letter"), "1");
  EXPECT_NEAR(json.at("layers")[0].at("letters")[1].at("mean").get<double>(), -1, 1e-6);
  EXPECT_EQ(json.at("layers")[0].at("heads").size(), 1u);
}

TEST(Spectrum, HeadsAndLargeAlphabets) {
  const auto task = MakeTask("group", {{"group", "S5"}});
  Model model(Fields({{"model_type", "delta_net"},
                      {"vocab_size", task->vocab_size()},
                      {"hidden_size", 16},
                      {"num_hidden_layers", 1},
                      {"num_heads", 2}},
                     "test"),
              3);
  const Spectrum spectrum = MeasureSpectrum(model, *task, {50, 60}, 10, 1);
  ASSERT_EQ(spectrum.layers[0].heads.size(), 2u);
  EXPECT_EQ(spectrum.layers[0].heads[0].count, spectrum.tokens);
  EXPECT_GT(spectrum.layers[0].letters.size(), 100u);
  EXPECT_TRUE(DetailsJson(spectrum).at("layers")[0].at("letters").is_null()) << "too many to read";
  EXPECT_TRUE(LayersWithoutEigenvalues(model).empty());
}

TEST(EigenvalueSummary, OfComplexNumbers) {
  EigenvalueSummary summary;
  summary.Add(torch::complex(torch::tensor({-0.5, 0.25}), torch::tensor({0.5, -0.75})));
  EXPECT_EQ(summary.count, 2);
  EXPECT_EQ(summary.negative, 1);
  EXPECT_EQ(summary.min, -0.5);
  EXPECT_EQ(summary.max, 0.25);
  EXPECT_EQ(summary.largest_imaginary, 0.75);
  EXPECT_DOUBLE_EQ(summary.mean(), -0.125);
}

}  // namespace
}  // namespace lrnn
