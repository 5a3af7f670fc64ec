#include "lrnn/report/length_accuracy.h"

#include <gtest/gtest.h>

#include <string>

#include "lrnn/base/message_of.h"
#include "lrnn/base/wilson.h"
#include "lrnn/io/test_directory.h"
#include "lrnn/report/sample_runs.h"

namespace lrnn {
namespace {

// Lengths 40 .. 43, two sequences each; 43 is always wrong. Then a test at one length.
const char* const kEval = R"({"format": "lrnn.eval", "version": 1, "task": "parity", "chance": 0.5, "evaluations": [
  {"lengths": [40, 43], "sequences": 8, "seed": 1, "streamed": false, "accuracy": 0.75, "scaled_accuracy": 0.5, "low": -0.1,
   "high": 0.8, "by_length": [{"length": 40, "sequences": 2, "correct": 2}, {"length": 41, "sequences": 2, "correct": 2},
   {"length": 42, "sequences": 2, "correct": 2}, {"length": 43, "sequences": 2, "correct": 0}], "seconds": 1.5, "tokens": 332},
  {"lengths": [1000, 1000], "sequences": 4, "seed": 1, "streamed": true, "accuracy": 1.0, "scaled_accuracy": 1.0, "low": 0.02,
   "high": 1.0, "by_length": [{"length": 1000, "sequences": 4, "correct": 4}], "seconds": 0.5, "tokens": 4000}]})";

class LengthAccuracyTest : public testing::Test {
 protected:
  nlohmann::json Read(const nlohmann::json& eval) const {
    WriteText(directory_ / "eval.json", eval.dump());
    return LengthAccuracy(directory_ / "eval.json", "parity");
  }
  // The message without the directory.
  std::string Message(const nlohmann::json& eval) const {
    const std::string message = MessageOf([&] { Read(eval); });
    const std::string start = directory_.path().string() + "/";
    EXPECT_EQ(message.rfind(start, 0), 0u) << message;
    return message.substr(start.size());
  }

  TestDirectory directory_;
  const nlohmann::json eval_ = nlohmann::json::parse(kEval);
};

TEST_F(LengthAccuracyTest, KeepsShortRangesLengthByLength) {
  const nlohmann::json result = Read(eval_);
  EXPECT_EQ(result["chance"], 0.5);
  EXPECT_EQ(result["by_length"]["lengths"], nlohmann::json({40, 43}));
  EXPECT_EQ(result["by_length"]["scaled_accuracy"], 0.5);
  const nlohmann::json& bins = result["by_length"]["bins"];
  ASSERT_EQ(bins.size(), 4u);
  EXPECT_EQ(bins[3]["from"], 43);
  EXPECT_EQ(bins[3]["to"], 43);
  EXPECT_EQ(bins[3]["scaled_accuracy"], -1.0);
  EXPECT_EQ(bins[0]["high"], 1.0);
  EXPECT_DOUBLE_EQ(bins[0]["low"].get<double>(), 2 * WilsonInterval(2, 2).low - 1);
  ASSERT_EQ(result["long"].size(), 1u);
  EXPECT_EQ(result["long"][0]["length"], 1000);
  EXPECT_EQ(result["long"][0]["streamed"], true);
}

TEST_F(LengthAccuracyTest, TheLowestLengthMayBeTheOddOneBelow) {
  nlohmann::json eval = eval_;
  eval["evaluations"][0]["by_length"][0]["length"] = 39;
  const nlohmann::json bins = Read(eval)["by_length"]["bins"];
  ASSERT_EQ(bins.size(), 4u);  // 40 has no sequences
  EXPECT_EQ(bins[0]["from"], 39);
  EXPECT_EQ(bins[0]["sequences"], 2);
}

TEST_F(LengthAccuracyTest, PoolsNeighbouringLengths) {
  const SampleRun run;
  Rng rng(1, 1);
  nlohmann::json eval = eval_;
  eval["evaluations"] = {SampleEvaluation(run, 40, 256, 8192, rng)};
  const nlohmann::json bins = Read(eval)["by_length"]["bins"];
  ASSERT_EQ(bins.size(), 20u);  // 217 lengths, 11 in a bin
  int64_t sum = 0, next = 40;
  for (const nlohmann::json& bin : bins) {
    EXPECT_EQ(bin["from"], next);
    next = bin["to"].get<int64_t>() + 1;
    sum += bin["sequences"].get<int64_t>();
  }
  EXPECT_EQ(next, 257);
  EXPECT_EQ(sum, 8192);
}

TEST_F(LengthAccuracyTest, ScoresBySequenceHaveTheirCurveByPosition) {
  nlohmann::json eval = eval_;
  eval["chance"] = 0;
  nlohmann::json& evaluation = eval["evaluations"][1];
  evaluation["by_position"] = nlohmann::json::array();
  for (int length = 1; length <= 1000; ++length) {
    evaluation["by_position"].push_back({{"length", length}, {"sequences", 4}, {"correct", length < 500 ? 4 : 1}});
  }
  eval["evaluations"] = {evaluation};
  const nlohmann::json result = Read(eval);
  EXPECT_EQ(result["by_length"]["lengths"], nlohmann::json({1, 1000}));
  const nlohmann::json& bins = result["by_length"]["bins"];
  EXPECT_LT(bins.size(), 140u);
  EXPECT_EQ(bins[31]["from"], 32);
  EXPECT_EQ(bins[0]["scaled_accuracy"], 1.0);
  EXPECT_EQ(bins.back()["to"], 1000);
  EXPECT_EQ(bins.back()["scaled_accuracy"], 0.25);
  eval["evaluations"][0]["by_position"][7]["correct"] = 9;
  EXPECT_EQ(Message(eval),
            R"(eval.json: evaluations[0]: by_position[7]: field "correct": expected at most 4 sequences, got 9)");
}

TEST_F(LengthAccuracyTest, SeveralPredictionsInASequenceAreOneObservation) {
  nlohmann::json eval = eval_;
  nlohmann::json& evaluation = eval["evaluations"][0];
  evaluation["score"] = "tokens";
  for (nlohmann::json& row : evaluation["by_length"]) row.update({{"targets", 20}, {"correct_targets", 15}});
  const nlohmann::json bin = Read(eval)["by_length"]["bins"][0];
  EXPECT_EQ(bin["scaled_accuracy"], 0.5);
  EXPECT_DOUBLE_EQ(bin["low"].get<double>(), 2 * WilsonInterval(2, 2).low - 1);  // 1.5 of 2, rounded
}

TEST_F(LengthAccuracyTest, Bf16AndHorizon) {
  EXPECT_TRUE(Read(eval_)["bf16"].is_null());
  EXPECT_TRUE(Read(eval_)["horizon"].is_null());
  nlohmann::json eval = eval_;
  eval["evaluations_bf16"] = {eval["evaluations"][0]};
  eval["evaluations_bf16"][0]["scaled_accuracy"] = 0.25;
  eval["horizon"] = {{"length", 1000}, {"has_ended", true}, {"accuracy", 0.99}, {"streams", 32}};
  const nlohmann::json result = Read(eval);
  EXPECT_EQ(result["bf16"]["scaled_accuracy"], 0.25);
  EXPECT_EQ(result["horizon"], nlohmann::json({{"length", 1000}, {"has_ended", true}, {"accuracy", 0.99}}));
}

TEST_F(LengthAccuracyTest, TakesTheWidestRangeAndTheLastTestOfALength) {
  nlohmann::json eval = eval_;
  nlohmann::json narrow = eval["evaluations"][0];
  narrow["lengths"] = {40, 42};
  narrow["sequences"] = 6;
  narrow["by_length"].erase(3);
  nlohmann::json again = eval["evaluations"][1];
  again["scaled_accuracy"] = 0.25;
  nlohmann::json shorter = eval["evaluations"][1];
  shorter["lengths"] = {500, 500};
  eval["evaluations"].insert(eval["evaluations"].begin(), narrow);
  eval["evaluations"].push_back(again);
  eval["evaluations"].push_back(shorter);
  const nlohmann::json result = Read(eval);
  EXPECT_EQ(result["by_length"]["lengths"], nlohmann::json({40, 43}));
  ASSERT_EQ(result["long"].size(), 2u);
  EXPECT_EQ(result["long"][0]["length"], 500);
  EXPECT_EQ(result["long"][1]["scaled_accuracy"], 0.25);
}

TEST_F(LengthAccuracyTest, WithoutEvaluationsThereIsNothing) {
  nlohmann::json eval = eval_;
  eval["evaluations"] = nlohmann::json::array();
  EXPECT_TRUE(Read(eval)["by_length"].is_null());
  EXPECT_TRUE(Read(eval)["long"].empty());
}

TEST_F(LengthAccuracyTest, ErrorsNameFileAndField) {
  const auto with = [this](const char* pointer, const nlohmann::json& value) {
    nlohmann::json eval = eval_;
    eval[nlohmann::json::json_pointer(pointer)] = value;
    return Message(eval);
  };
  EXPECT_EQ(with("/format", "x"), R"(eval.json: field "format": expected "lrnn.eval", got "x")");
  EXPECT_EQ(with("/task", "x"), R"(eval.json: field "task": expected "parity" as in config.toml, got "x")");
  EXPECT_EQ(with("/chance", 1), R"(eval.json: field "chance": expected a number in [0, 1), got 1)");
  EXPECT_EQ(with("/evaluations/0/lengths", {43, 40}),
            R"(eval.json: evaluations[0]: field "lengths": expected two lengths [low, high], got [43,40])");
  EXPECT_EQ(with("/evaluations/1/low", nullptr), R"(eval.json: evaluations[1]: field "low" is missing)");
  EXPECT_EQ(with("/evaluations/0/sequences", 9),
            R"(eval.json: evaluations[0]: field "sequences": expected 8, the sum of by_length, got 9)");
  EXPECT_EQ(with("/evaluations/0/by_length/1/length", 38),
            R"(eval.json: evaluations[0]: by_length[1]: field "length": expected a length in 40 .. 43, got 38)");
  EXPECT_EQ(with("/evaluations/0/by_length/1/length", 44),
            R"(eval.json: evaluations[0]: by_length[1]: field "length": expected a length in 40 .. 43, got 44)");
  EXPECT_EQ(with("/evaluations/0/by_length/1/correct", 3),
            R"(eval.json: evaluations[0]: by_length[1]: field "correct": expected at most 2 sequences, got 3)");
}

}  // namespace
}  // namespace lrnn
