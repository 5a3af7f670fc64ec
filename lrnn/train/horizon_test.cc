#include "lrnn/train/horizon.h"

#include <gmock/gmock.h>

#include "lrnn/base/message_of.h"
#include "lrnn/layers/registry.h"
#include "lrnn/models/parity_model.h"
#include "lrnn/tasks/parity.h"
#include "lrnn/tasks/registry.h"

namespace lrnn {
namespace {

Model SmallModel(const std::string& type, int64_t vocabulary) {
  return Model(Fields({{"model_type", type},
                       {"vocab_size", vocabulary},
                       {"hidden_size", 8},
                       {"num_hidden_layers", 1},
                       {"allow_neg_eigval", true}},
                      "test"),
               3);
}

TEST(Horizon, AnExactModelHasNone) {
  Model model = ParityModel(/*epsilon=*/0, /*boundary=*/2);
  const Horizon horizon = MeasureHorizon(model, Parity(), {.max_length = 20000, .streams = 4, .seed = 1});
  EXPECT_EQ(horizon.length, 20000);
  EXPECT_FALSE(horizon.has_ended);
  EXPECT_TRUE(horizon.every_position);
  EXPECT_EQ(horizon.tokens, 4 * 19999);
  EXPECT_EQ(horizon.checkpoints.back().length, 20000);
  int64_t predictions = 0;
  for (const HorizonPoint& point : horizon.checkpoints) {
    EXPECT_EQ(point.accuracy, 1);
    predictions += point.predictions;
  }
  EXPECT_EQ(predictions, horizon.tokens) << "every prediction is judged once";
}

// Both states approach c = 2 by the factor 0.99 at each 1; the even one passes the boundary c / 2 after
// ln 2 / -ln 0.99 = 69 ones, in about 138 tokens.
TEST(Horizon, OfAModelThatForgetsIsWhereItsStateCrossesTheBoundary) {
  Model model = ParityModel(/*epsilon=*/0.01, /*boundary=*/1);
  const Horizon horizon =
      MeasureHorizon(model, Parity(), {.max_length = 1'000'000, .streams = 64, .seed = 1, .chunk = 16});
  EXPECT_GE(horizon.length, 85);
  EXPECT_LE(horizon.length, 140);
  EXPECT_TRUE(horizon.has_ended);
  EXPECT_LT(horizon.tokens, 64 * 400) << "it stops early";
  EXPECT_LT(horizon.checkpoints.back().accuracy, 0.6);
  EXPECT_GE(horizon.checkpoints.back().length, 2 * horizon.length);
  const nlohmann::json json = ToJson(horizon);
  EXPECT_EQ(json.at("length"), horizon.length);
  EXPECT_EQ(json.at("has_ended"), true);
  EXPECT_EQ(json.at("streams"), 64);
  EXPECT_EQ(json.at("checkpoints").size(), horizon.checkpoints.size());
}

TEST(Horizon, IsZeroWhereNothingWasLearned) {
  Model model = ParityModel(0, /*boundary=*/100);
  const Horizon horizon = MeasureHorizon(model, Parity(), {.max_length = 100000, .streams = 8});
  EXPECT_EQ(horizon.length, 0);
  EXPECT_LT(horizon.tokens, 8 * 1000);
}

// Z2 as a word problem is parity, scored by sequence: the horizon is the first prediction that is wrong, exactly.
TEST(Horizon, BySequenceIsBeforeTheFirstMistake) {
  const auto task = MakeTask("group", {{"group", "Z2"}, {"bos", false}});
  Model model = SmallModel("delta_net", 2);
  const Horizon horizon = MeasureHorizon(model, *task, {.max_length = 5000, .streams = 1, .seed = 3});
  const Example example = ReadExample(*task, 5000, Rng(3, 0));
  torch::NoGradGuard no_grad;
  const torch::Tensor said =
      model->forward(torch::tensor(example.tokens, torch::kInt64), ops::Sequences::Single(5000)).argmax(1);
  int64_t right = 0;
  while (said[right].item<int64_t>() == example.targets[right]) ++right;
  EXPECT_EQ(horizon.length, right);
  EXPECT_LT(horizon.length, 100) << "an untrained model";
}

TEST(Horizon, TasksWithOneAnswerAreTestedLengthByLength) {
  const auto task = MakeTask("modular_arithmetic");
  Model model = SmallModel("delta_net", task->vocab_size());
  const Horizon horizon = MeasureHorizon(model, *task, {.max_length = 400, .streams = 4});
  EXPECT_FALSE(horizon.every_position);
  EXPECT_EQ(horizon.length, 0);
  ASSERT_EQ(horizon.checkpoints.size(), 1u);
  EXPECT_EQ(horizon.checkpoints[0].length, task->min_length());

  // With any accuracy good enough, it goes on to the end.
  const Horizon all = MeasureHorizon(model, *task, {.max_length = 101, .streams = 4, .accuracy = 0});
  EXPECT_EQ(all.length, 101);
  EXPECT_FALSE(all.has_ended);
  EXPECT_GT(all.checkpoints.size(), 5u);
}

// The same, by bisection. Parity's answers hidden behind a task without automaton: the horizon must be the same.
class LastAnswerOnly : public Parity {
 public:
  std::optional<TaskAutomaton> automaton() const override { return std::nullopt; }
};

TEST(Horizon, BisectionFindsTheSameLength) {
  Model model = ParityModel(/*epsilon=*/0.01, /*boundary=*/1);
  const Horizon horizon = MeasureHorizon(model, LastAnswerOnly(), {.max_length = 100000, .streams = 16, .seed = 1});
  EXPECT_FALSE(horizon.every_position);
  EXPECT_TRUE(horizon.has_ended);
  EXPECT_GE(horizon.length, 100);
  EXPECT_LE(horizon.length, 140);
  EXPECT_TRUE(std::is_sorted(horizon.checkpoints.begin(), horizon.checkpoints.end(),
                             [](const auto& a, const auto& b) { return a.length < b.length; }));
}

TEST(Horizon, RefusesModelsWhoseMemoryGrows) {
  for (const LayerInfo& layer : Layers()) {
    Model model = SmallModel(layer.name, 3);
    if (model->state_growth() == 0) continue;
    EXPECT_THAT(MessageOf([&] { MeasureHorizon(model, Parity(), {}); }),
                testing::HasSubstr("expected a model whose state is of fixed size"))
        << layer.name;
  }
}

TEST(Horizon, RefusesWhatCannotBe) {
  Model model = ParityModel(0, 2);
  EXPECT_THAT(MessageOf([&] { MeasureHorizon(model, Parity(), {.max_length = 1}); }),
              testing::HasSubstr("expected lengths from 2 on for task parity, got 2:1"));
  EXPECT_THAT(MessageOf([&] { MeasureHorizon(model, Parity(), {.streams = 0}); }),
              testing::HasSubstr("at least one stream"));
  EXPECT_THAT(MessageOf([&] { MeasureHorizon(model, *MakeTask("modular_arithmetic"), {}); }),
              testing::HasSubstr("expected a model with the 10 tokens of task modular_arithmetic, got 3"));
}

}  // namespace
}  // namespace lrnn
