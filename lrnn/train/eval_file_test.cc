#include "lrnn/train/eval_file.h"

#include <gtest/gtest.h>

#include "lrnn/io/json_file.h"
#include "lrnn/io/test_directory.h"

namespace lrnn {
namespace {

using nlohmann::json;

const EvaluatedTask kParity{"parity", json::object(), 0.5, Score::kTokens};
const EvaluatedTask kGroup{"group", {{"group", "S3"}}, 0, Score::kSequence};
const EvaluatedTask kOtherGroup{"group", {{"group", "S4"}}, 0, Score::kSequence};

json Result(int64_t from, int64_t to, int mark, const std::string& precision = "fp32") {
  return {{"lengths", {from, to}}, {"mark", mark}, {"precision", precision}};
}

TEST(EvalFile, KeepsOneResultForEachTaskLengthsAndPrecision) {
  const TestDirectory directory;
  const auto path = directory.path() / "eval.json";
  KeepEvaluation(path, kParity, kParity, Result(40, 256, 1));
  KeepEvaluation(path, kParity, kParity, Result(1000, 1000, 2));
  KeepEvaluation(path, kParity, kParity, Result(40, 256, 3));
  KeepEvaluation(path, kParity, kParity, Result(40, 256, 4, "bf16"));
  KeepEvaluation(path, kParity, kGroup, Result(40, 256, 5));
  KeepEvaluation(path, kParity, kOtherGroup, Result(40, 256, 6));
  KeepEvaluation(path, kParity, kGroup, Result(40, 256, 7));
  KeepHorizon(path, kParity, kParity, {{"length", 77}, {"precision", "fp32"}});
  KeepHorizon(path, kParity, kParity, {{"length", 66}, {"precision", "bf16"}});
  KeepHorizon(path, kParity, kGroup, {{"length", 55}, {"precision", "fp32"}});

  const json file = ReadJson(path);
  EXPECT_EQ(file.at("format"), "lrnn.eval");
  EXPECT_EQ(file.at("task"), "parity");
  EXPECT_EQ(file.at("chance"), 0.5);
  EXPECT_EQ(file.at("score"), "tokens");
  ASSERT_EQ(file.at("evaluations").size(), 2u);
  EXPECT_EQ(file.at("evaluations")[0].at("mark"), 2);
  EXPECT_EQ(file.at("evaluations")[1].at("mark"), 3);
  ASSERT_EQ(file.at("evaluations_bf16").size(), 1u);
  EXPECT_EQ(file.at("evaluations_bf16")[0].at("mark"), 4);
  EXPECT_EQ(file.at("horizon").at("length"), 77);
  EXPECT_EQ(file.at("horizon_bf16").at("length"), 66);
  ASSERT_EQ(file.at("other_tasks").size(), 2u);
  const json& group = file.at("other_tasks")[0];
  EXPECT_EQ(group.at("parameters"), kGroup.parameters);
  EXPECT_EQ(group.at("score"), "sequence");
  ASSERT_EQ(group.at("evaluations").size(), 1u);
  EXPECT_EQ(group.at("evaluations")[0].at("mark"), 7);
  EXPECT_EQ(group.at("horizon").at("length"), 55);
}

TEST(EvalFile, FilesWithoutParametersAreReadOn) {
  const TestDirectory directory;
  const auto path = directory.path() / "eval.json";
  WriteJson(
      path,
      {{"format", "lrnn.eval"}, {"version", 1}, {"task", "group"}, {"chance", 0}, {"evaluations", {Result(3, 9, 1)}}});
  KeepEvaluation(path, kGroup, kGroup, Result(5, 5, 2));
  EXPECT_EQ(ReadJson(path).at("evaluations").size(), 2u);
  EXPECT_EQ(ReadJson(path).at("parameters"), kGroup.parameters);

  // A file of another task is not this run's.
  KeepEvaluation(path, kParity, kParity, Result(5, 5, 3));
  EXPECT_EQ(ReadJson(path).at("evaluations").size(), 1u);
  EXPECT_EQ(ReadJson(path).at("task"), "parity");
}

}  // namespace
}  // namespace lrnn
