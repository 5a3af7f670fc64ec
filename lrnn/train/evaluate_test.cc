#include "lrnn/train/evaluate.h"

#include <gmock/gmock.h>

#include "lrnn/base/message_of.h"
#include "lrnn/layers/registry.h"
#include "lrnn/tasks/parity.h"
#include "lrnn/tasks/registry.h"

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
    EXPECT_EQ(a.total().right_targets, b.total().right_targets) << layer.name;
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
  EXPECT_EQ(result.total().right_targets, 0) << "all logits equal: the first token, padding, is never right";
  EXPECT_NEAR(result.loss, std::log(3.0), 1e-5);
  EXPECT_DOUBLE_EQ(result.scaled_accuracy(), -1);
}

// Says "identity" everywhere: by tokens right where the product is the identity, by sequence until it first is not.
TEST(Evaluate, SequencesAreRightUntilTheFirstWrongPrediction) {
  const auto task = MakeTask("group", {{"group", "S3"}, {"bos", false}});
  Model model = SmallModel("delta_net", task->vocab_size());
  {
    torch::NoGradGuard no_grad;
    for (auto& item : model->named_parameters()) {
      if (item.key() == "lm_head.weight") item.value().zero_();
    }
  }
  const LengthRange lengths{3, 12};
  const Evaluation result = Evaluate(model, *task, {.lengths = lengths, .sequences = 400, .seed = 4, .chunk = 5});
  std::map<int64_t, int64_t> right, all;  // by length of the prefix
  int64_t right_targets = 0, targets = 0, right_sequences = 0;
  for (uint64_t i = 0; i < 400; ++i) {
    Rng rng(4, i);
    const int64_t length = task->DrawLength(lengths, rng);
    const Example example = ReadExample(*task, length, rng);
    bool is_right = true;
    for (int64_t t = 0; t < length; ++t) {
      is_right &= example.targets[t] == 0;
      right_targets += example.targets[t] == 0;
      right[t + 1] += is_right;
      ++all[t + 1];
    }
    targets += length;
    right_sequences += is_right;
  }
  EXPECT_EQ(result.score, Score::kSequence);
  EXPECT_EQ(result.total().sequences, 400);
  EXPECT_EQ(result.total().targets, targets);
  EXPECT_EQ(result.total().right_targets, right_targets);
  EXPECT_EQ(result.total().right_sequences, right_sequences);
  EXPECT_DOUBLE_EQ(result.accuracy(), static_cast<double>(right_sequences) / 400);
  ASSERT_EQ(result.by_position.size(), 12u);
  for (const PrefixScore& point : result.by_position) {
    EXPECT_EQ(point.sequences, all.at(point.length)) << point.length;
    EXPECT_EQ(point.correct, right.at(point.length)) << point.length;
  }
  const nlohmann::json json = ToJson(result);
  EXPECT_EQ(json.at("score"), "sequence");
  EXPECT_EQ(json.at("by_position").size(), 12u);
  EXPECT_EQ(json.at("by_position")[0].at("length"), 1);
  int64_t sequences = 0;
  for (const auto& row : json.at("by_length")) {
    sequences += row.at("sequences").get<int64_t>();
    EXPECT_LE(row.at("correct").get<int64_t>(), row.at("sequences").get<int64_t>());
    EXPECT_EQ(row.at("targets").get<int64_t>(), row.at("sequences").get<int64_t>() * row.at("length").get<int64_t>());
  }
  EXPECT_EQ(sequences, 400);
}

// With <bos> a word of length L is L + 1 tokens.
TEST(Evaluate, LengthsOfTheCurveAreThoseOfTheTask) {
  const auto task = MakeTask("group", {{"group", "S3"}});
  Model model = SmallModel("delta_net", task->vocab_size());
  const Evaluation result = Evaluate(model, *task, {.lengths = {1500, 1500}, .sequences = 2, .seed = 1});
  EXPECT_EQ(result.tokens, 2 * 1501);
  EXPECT_EQ(result.by_position.back().length, 1500);
  EXPECT_EQ(result.by_position[998].length, 999);
  EXPECT_EQ(result.by_position[1000].length, 1020) << "beyond 1000 they grow by 2 %";
}

// One observation a sequence: the interval must not shrink because each has many predictions.
TEST(Evaluate, IntervalsCountSequences) {
  const auto task = MakeTask("regex", {{"regex", "(a|b)*abb"}});
  Model model = SmallModel("delta_net", task->vocab_size());
  const Evaluation result = Evaluate(model, *task, {.lengths = {50, 50}, .sequences = 40, .seed = 1});
  EXPECT_EQ(result.total().targets, 40 * 50);
  const double p = result.accuracy();
  EXPECT_DOUBLE_EQ(p, static_cast<double>(result.total().right_targets) / 2000);
  const Interval by_sequence = WilsonInterval(std::llround(40 * p), 40);
  EXPECT_DOUBLE_EQ(result.interval().low, by_sequence.low);
  EXPECT_DOUBLE_EQ(result.interval().high, by_sequence.high);
  EXPECT_LE(result.interval().low, p);
  EXPECT_GE(result.interval().high, p);
}

TEST(Evaluate, Bf16IsAnotherPrecisionOfTheSameModel) {
  Model model = SmallModel("delta_net");
  EvaluateOptions options{.lengths = {2, 30}, .sequences = 100, .seed = 1};
  const Evaluation single = Evaluate(model, Parity(), options);
  options.precision = Precision::kBfloat16;
  const Evaluation rounded = Evaluate(model, Parity(), options);
  EXPECT_NE(single.loss, rounded.loss);
  EXPECT_NEAR(single.loss, rounded.loss, 0.01);
  EXPECT_EQ(ToJson(single).at("precision"), "fp32");
  EXPECT_EQ(ToJson(rounded).at("precision"), "bf16");
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
