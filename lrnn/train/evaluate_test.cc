#include "lrnn/train/evaluate.h"

#include <gmock/gmock.h>

#include "lrnn/base/message_of.h"
#include "lrnn/layers/registry.h"
#include "lrnn/tasks/parity.h"

namespace lrnn {
namespace {

Model SmallModel(const std::string& type, int64_t vocabulary = 3) {
  return Model(Fields({{"model_type", type},
                       {"vocab_size", vocabulary},
                       {"hidden_size", 8},
                       {"num_hidden_layers", 1},
                       {"allow_neg_eigval", true}},
                      "test"),
               3);
}

TEST(Evaluate, ChunksDoNotChangeTheScores) {
  const Parity parity;
  for (const LayerInfo& layer : Layers()) {
    Model model = SmallModel(layer.name);
    EvaluateOptions whole{.lengths = {2, 90}, .sequences = 60, .seed = 5, .together = 60, .chunk = 1000};
    EvaluateOptions pieces = whole;
    pieces.together = 7;
    pieces.chunk = 13;
    const Evaluation a = Evaluate(model, parity, whole), b = Evaluate(model, parity, pieces);
    EXPECT_EQ(a.total().targets, 60);
    EXPECT_EQ(a.total().correct, b.total().correct) << layer.name;
    EXPECT_NEAR(a.loss, b.loss, 1e-5) << layer.name;
    EXPECT_EQ(a.tokens, b.tokens);
    EXPECT_EQ(a.by_length.size(), b.by_length.size());
  }
}

// A head that always says "even": right for half of the words, whatever their length.
TEST(Evaluate, CountsWhatIsRight) {
  Model model = SmallModel("mamba");
  {
    torch::NoGradGuard no_grad;
    for (auto& item : model->named_parameters()) {
      if (item.key() == "lm_head.weight") item.value().zero_();
      if (item.key() == "backbone.norm_f.weight") item.value().zero_();
    }
  }
  const Evaluation result = Evaluate(model, Parity(), {.lengths = {2, 30}, .sequences = 400, .seed = 1});
  EXPECT_EQ(result.total().correct, 0) << "all logits equal: the first token, padding, is never right";
  EXPECT_NEAR(result.loss, std::log(3.0), 1e-5);
  EXPECT_DOUBLE_EQ(result.scaled_accuracy(), -1);
}

TEST(Evaluate, LengthsAreThoseAskedFor) {
  Model model = SmallModel("delta_net");
  const Evaluation result = Evaluate(model, Parity(), {.lengths = {1000, 1000}, .sequences = 3, .seed = 1});
  ASSERT_EQ(result.by_length.size(), 1u);
  EXPECT_EQ(result.by_length.begin()->first, 1000);
  EXPECT_EQ(result.tokens, 3 * 999);
  const nlohmann::json json = ToJson(result);
  EXPECT_EQ(json.at("lengths"), (std::vector<int64_t>{1000, 1000}));
  EXPECT_EQ(json.at("streamed"), true);
  EXPECT_LE(json.at("low").get<double>(), json.at("scaled_accuracy").get<double>());
  EXPECT_GE(json.at("high").get<double>(), json.at("scaled_accuracy").get<double>());
}

TEST(Evaluate, RefusesWhatCannotBe) {
  Model model = SmallModel("delta_net"), poor = SmallModel("delta_net", 2);
  const Parity parity;
  EXPECT_THAT(MessageOf([&] {
                Evaluate(model, parity, {.lengths = {1, 5}});
              }),
              testing::HasSubstr("expected lengths from 2 on for task parity, got 1:5"));
  EXPECT_THAT(MessageOf([&] {
                Evaluate(model, parity, {.lengths = {5, 9}, .sequences = 0});
              }),
              testing::HasSubstr("at least one sequence"));
  EXPECT_THAT(MessageOf([&] {
                Evaluate(poor, parity, {.lengths = {5, 9}});
              }),
              testing::HasSubstr("expected a model with the 3 tokens of task parity, got 2"));
}

}  // namespace
}  // namespace lrnn
