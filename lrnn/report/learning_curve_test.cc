#include "lrnn/report/learning_curve.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "lrnn/base/message_of.h"
#include "lrnn/io/test_directory.h"
#include "lrnn/report/sample_runs.h"

namespace lrnn {
namespace {

TEST(LearningCurve, ReadsTrainingAndValidation) {
  const TestDirectory directory;
  WriteText(directory / "metrics.jsonl",
            R"({"kind":"train","step":20,"loss":0.69,"accuracy":0.51}
{"kind":"eval","step":20,"loss":0.7,"accuracy":0.9,"scaled_accuracy":0.8,"low":0.78,"high":0.82,"sequences":1024}
{"kind":"note","text":"other kinds are not shown"}
{"kind":"train","step":40,"loss":null}
)");
  EXPECT_EQ(LearningCurve(directory / "metrics.jsonl"), nlohmann::json::parse(R"({"train": [{"step": 20, "loss": 0.69}],
                                      "validation": [{"step": 20, "scaled_accuracy": 0.8, "low": 0.78, "high": 0.82}]})"));
}

TEST(LearningCurve, IsEmptyWithoutFile) {
  const TestDirectory directory;
  EXPECT_EQ(LearningCurve(directory / "metrics.jsonl"), nlohmann::json::parse(R"({"train": [], "validation": []})"));
}

TEST(LearningCurve, LongCurvesAreThinnedToMeans) {
  const TestDirectory directory;
  std::string lines;
  for (int step = 1; step <= 900; ++step)
    lines += fmt::format("{{\"kind\":\"train\",\"step\":{},\"loss\":{}}}\n", step, step);
  WriteText(directory / "metrics.jsonl", lines);
  const nlohmann::json train = LearningCurve(directory / "metrics.jsonl")["train"];
  ASSERT_EQ(train.size(), 300u);
  EXPECT_EQ(train[0], nlohmann::json::parse(R"({"step": 3, "loss": 2.0})"));
  EXPECT_EQ(train[299], nlohmann::json::parse(R"({"step": 900, "loss": 899.0})"));
}

TEST(LearningCurve, ErrorsNameTheLine) {
  const TestDirectory directory;
  const auto message = [&directory](const std::string& text) {
    WriteText(directory / "metrics.jsonl", text);
    return MessageOf([&directory] { LearningCurve(directory / "metrics.jsonl"); });
  };
  const std::string path = (directory / "metrics.jsonl").string();
  EXPECT_EQ(message("{\"kind\":\"train\",\"step\":1,\"loss\":1}\n{\"kind\":\"train\",\"step\":2}\n"),
            path + ":2: field \"loss\" is missing");
  EXPECT_EQ(message("{\"step\":1}\n"), path + ":1: field \"kind\" is missing");
  EXPECT_EQ(message("{\"kind\":\"eval\",\"step\":-1,\"scaled_accuracy\":1}\n"),
            path + ":1: field \"step\": expected an integer that is not negative, got -1");
}

}  // namespace
}  // namespace lrnn
