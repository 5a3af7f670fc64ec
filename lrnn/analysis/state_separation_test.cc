#include "lrnn/analysis/state_separation.h"

#include <gmock/gmock.h>

#include <cmath>

#include "lrnn/base/message_of.h"
#include "lrnn/models/parity_model.h"
#include "lrnn/tasks/parity.h"
#include "lrnn/tasks/registry.h"

namespace lrnn {
namespace {

using Kind = FailurePrediction::Kind;

Model SmallModel(const std::string& type, int64_t vocabulary) {
  return Model(
      Fields({{"model_type", type}, {"vocab_size", vocabulary}, {"hidden_size", 8}, {"num_hidden_layers", 2}}, "test"),
      3);
}

TEST(StateSeparation, AnExactModelKeepsItsStatesForEver) {
  Model model = ParityModel(/*epsilon=*/0, /*boundary=*/2);
  const StateSeparation result = MeasureSeparation(model, Parity(), {.max_length = 300, .sequences = 32, .seed = 1});
  ASSERT_EQ(result.layers.size(), 1u);
  EXPECT_EQ(result.states, 2);
  EXPECT_EQ(result.layers[0].states, 2);
  EXPECT_NEAR(result.layers[0].distance, 4, 1e-3) << "from 0 to 2c";
  ASSERT_GE(result.layers[0].points.size(), 6u);
  for (const SeparationPoint& point : result.layers[0].points) {
    EXPECT_NEAR(point.separation, 1, 1e-6);
    EXPECT_LT(point.spread, 1e-6);
    EXPECT_LT(point.used, 1e-6);
  }
  for (const auto& [length, accuracy] : result.accuracy) EXPECT_EQ(accuracy, 1) << length;
  EXPECT_EQ(result.accuracy.back().first, 300);
  EXPECT_EQ(result.prediction.kind, Kind::kNone);
}

// Both states approach each other by 1 - epsilon at each 1, of which there is one in two tokens.
TEST(StateSeparation, MeasuresHowStatesApproach) {
  constexpr double kEpsilon = 0.01;
  Model model = ParityModel(kEpsilon, /*boundary=*/2);
  const StateSeparation result =
      MeasureSeparation(model, Parity(), {.reference_length = 40, .max_length = 400, .sequences = 200, .seed = 1});
  bool has_reference = false;
  for (const SeparationPoint& point : result.layers[0].points) {
    const double expected = std::pow(1 - kEpsilon, (static_cast<double>(point.length) - 40) / 2);
    EXPECT_NEAR(point.separation, expected, 0.05 * expected) << point.length;
    // The variance of the number of ones is t / 4, and a window of 16 tokens is measured together.
    const double ones = (static_cast<double>(point.length) + 7.5) / 4 + (16 * 16 - 1) / 12.0 / 4;
    const double spread = expected / 2 * kEpsilon * std::sqrt(ones);
    EXPECT_NEAR(point.spread, spread, 0.3 * spread) << point.length;
    EXPECT_NEAR(point.used, 2 * 2.326 * point.spread / point.separation, 1e-9);
    has_reference |= point.length == 40;
  }
  EXPECT_TRUE(has_reference);
  // spread / separation = epsilon sqrt(t / 4) / 2 is a random walk, which reaches 1 / (2 2.326) at t = 7400.
  EXPECT_EQ(result.prediction.kind, Kind::kExtrapolated);
  EXPECT_GT(result.prediction.length, 2500);
  EXPECT_LT(result.prediction.length, 20000);
  const nlohmann::json json = ToJson(result);
  EXPECT_EQ(json.at("tracking_layer"), 0);
  EXPECT_EQ(json.at("reference_length"), 40);
  EXPECT_EQ(json.at("layers")[0].at("points").size(), result.layers[0].points.size());
}

TEST(StateSeparation, AnUntrainedModelSeparatesNothing) {
  Model model = SmallModel("mamba", 3);
  const StateSeparation result = MeasureSeparation(model, Parity(), {.max_length = 120, .sequences = 64, .seed = 1});
  EXPECT_EQ(result.layers.size(), 2u);
  EXPECT_EQ(result.prediction.kind, Kind::kNotSeparated);
}

TEST(StateSeparation, GroupsAndAutomata) {
  for (const auto& [name, parameters] : std::vector<std::pair<std::string, nlohmann::json>>{
           {"group", {{"group", "S3"}}}, {"regex", {{"regex", "(a|b)*abb"}}}}) {
    const auto task = MakeTask(name, parameters);
    Model model = SmallModel("delta_net", task->vocab_size());
    const StateSeparation result =
        MeasureSeparation(model, *task, {.reference_length = 20, .max_length = 60, .sequences = 64, .seed = 1});
    EXPECT_EQ(result.layers[0].states, name == "group" ? 6 : 4);
    EXPECT_EQ(result.layers[0].points.back().length, 60);
  }
}

// separation = exp(-b t), (spread / separation)^2 = fresh / separation^2 + walk t
std::vector<SeparationPoint> Points(double b, double fresh, double walk) {
  std::vector<SeparationPoint> points;
  for (int64_t t : {16, 40, 80, 160, 320, 640}) {
    const double length = static_cast<double>(t), separation = std::exp(-b * length);
    const double ratio = std::sqrt(fresh / (separation * separation) + walk * length);
    points.push_back({t, ratio * separation, separation, 2 * 2.326 * ratio});
  }
  return points;
}

TEST(PredictFailure, SolvesForTheLength) {
  // States that come closer under a constant spread: 2 2.326 0.001 = exp(-1e-4 t).
  const FailurePrediction closer = PredictFailure(Points(1e-4, 1e-6, 0), 40);
  EXPECT_EQ(closer.kind, Kind::kExtrapolated);
  EXPECT_NEAR(closer.length, -std::log(2 * 2.326 * 1e-3) / 1e-4, 300);
  // A random walk: (2 2.326)^2 1e-8 t = 1.
  const FailurePrediction walk = PredictFailure(Points(0, 0, 1e-8), 40);
  EXPECT_EQ(walk.kind, Kind::kExtrapolated);
  EXPECT_NEAR(walk.length, 1e8 / (4 * 2.326 * 2.326), 2e4);
  const FailurePrediction soon = PredictFailure(Points(0, 0, 2e-4), 40);
  EXPECT_EQ(soon.kind, Kind::kMeasured);
  EXPECT_NEAR(soon.length, 1 / (2e-4 * 4 * 2.326 * 2.326), 15);
  EXPECT_EQ(PredictFailure(Points(0, 1e-4, 0), 40).kind, Kind::kNone);
  EXPECT_EQ(PredictFailure(Points(0, 0, 0), 40).kind, Kind::kNone);
  EXPECT_EQ(PredictFailure(Points(0, 1, 0), 40).kind, Kind::kNotSeparated);
  EXPECT_EQ(PredictFailure({}, 40).kind, Kind::kNone);
}

TEST(PredictFailure, NoiseIsNoGrowth) {
  std::vector<SeparationPoint> points = Points(0, 1e-4, 0);
  for (size_t i = 0; i < points.size(); ++i) {
    points[i].separation += i % 2 ? 0.01 : -0.01;
    points[i].spread *= i % 2 ? 1.05 : 0.95;
  }
  EXPECT_EQ(PredictFailure(points, 40).kind, Kind::kNone);
}

TEST(PredictFailure, InWords) {
  EXPECT_EQ(Describe({Kind::kExtrapolated, 53210}), "at about length 53000, extrapolated");
  EXPECT_EQ(Describe({Kind::kMeasured, 301.4}), "at about length 301, within the lengths measured");
  EXPECT_THAT(Describe({Kind::kNone}), testing::HasSubstr("none"));
  EXPECT_THAT(Describe({Kind::kNotSeparated}), testing::HasSubstr("apart"));
}

TEST(StateSeparation, RefusesWhatCannotBe) {
  Model model = SmallModel("delta_net", 10);
  EXPECT_THAT(MessageOf([&] { MeasureSeparation(model, *MakeTask("modular_arithmetic"), {}); }),
              testing::HasSubstr("expected a task with an automaton behind it, got modular_arithmetic"));
  // Random words of (ab)* are hopeless after a few letters.
  EXPECT_THAT(MessageOf([&] {
                MeasureSeparation(model, *MakeTask("regex", {{"regex", "(ab)*"}}), {});
              }),
              testing::HasSubstr("expected at least two states of the automaton of task regex at length 40, got 1"));
  EXPECT_THAT(MessageOf([&] { MeasureSeparation(model, Parity(), {.sequences = 1}); }),
              testing::HasSubstr("at least 4 sequences"));
}

}  // namespace
}  // namespace lrnn
