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
    EXPECT_NEAR(point.drift, 1 - expected, 0.05) << point.length;
    // The variance of the number of ones is t / 4, and a window of 16 tokens is measured together.
    const double ones = (static_cast<double>(point.length) + 7.5) / 4 + (16 * 16 - 1) / 12.0 / 4;
    const double spread = expected / 2 * kEpsilon * std::sqrt(ones);
    EXPECT_NEAR(point.spread, spread, 0.3 * spread) << point.length;
    has_reference |= point.length == 40;
  }
  EXPECT_TRUE(has_reference);
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

std::vector<SeparationPoint> Points(double drift0, double drift1, double variance0, double variance1) {
  std::vector<SeparationPoint> points;
  for (int64_t t : {16, 40, 80, 160, 320, 640}) {
    const double length = static_cast<double>(t);
    const double drift = drift0 + drift1 * length, deviation = std::sqrt(variance0 + variance1 * length);
    points.push_back({t, 0, 1, drift, deviation, drift + 2.326 * deviation});
  }
  return points;
}

TEST(PredictFailure, SolvesForTheLength) {
  // 0.1 + 1e-5 t = 1; a random walk 2.326 sqrt(1e-6 t) = 1; both.
  const FailurePrediction drift = PredictFailure(Points(0.1, 1e-5, 0, 0), 40);
  EXPECT_EQ(drift.kind, Kind::kExtrapolated);
  EXPECT_NEAR(drift.length, 90000, 300);
  const FailurePrediction walk = PredictFailure(Points(0, 0, 0, 1e-6), 40);
  EXPECT_EQ(walk.kind, Kind::kExtrapolated);
  EXPECT_NEAR(walk.length, 1e6 / (2.326 * 2.326), 500);
  const FailurePrediction soon = PredictFailure(Points(0.1, 3e-3, 0, 0), 40);
  EXPECT_EQ(soon.kind, Kind::kMeasured);
  EXPECT_NEAR(soon.length, 300, 15);
  EXPECT_EQ(PredictFailure(Points(0.3, 0, 0.01, 0), 40).kind, Kind::kNone);
  EXPECT_EQ(PredictFailure(Points(1, 0, 0.01, 0), 40).kind, Kind::kNotSeparated);
  EXPECT_EQ(PredictFailure({}, 40).kind, Kind::kNone);
}

TEST(PredictFailure, NoiseIsNoSlope) {
  std::vector<SeparationPoint> points = Points(0.1, 0, 0.01, 0);
  for (size_t i = 0; i < points.size(); ++i) points[i].drift += i % 2 ? 0.01 : -0.01;
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
