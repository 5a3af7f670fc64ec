#include "lrnn/report/run_summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "lrnn/base/message_of.h"
#include "lrnn/io/json_file.h"
#include "lrnn/io/test_directory.h"
#include "lrnn/report/sample_runs.h"

namespace lrnn {
namespace {

class RunSummaryTest : public testing::Test {
 protected:
  std::filesystem::path Write(const SampleRun& run = {}) { return WriteSampleRun(directory_ / "run", run); }

  // The message without the run's directory.
  std::string Message() {
    const std::string message = MessageOf([this] { SummariseRun(directory_ / "run"); });
    const std::string start = (directory_ / "run").string() + "/";
    return message.rfind(start, 0) == 0 ? message.substr(start.size()) : message;
  }
  std::string MessageWithConfig(const std::string& from, const std::string& to) {
    std::string config = SampleConfig({});
    const size_t place = config.find(from);
    EXPECT_NE(place, std::string::npos) << from;
    WriteText(Write() / "config.toml", config.replace(place, from.size(), to));
    return Message();
  }
  std::string MessageWithTrain(const char* field, const nlohmann::json& value) {
    nlohmann::json train = ReadJson(Write() / "train.json");
    train[field] = value;
    WriteJson(directory_ / "run" / "train.json", train);
    return Message();
  }

  TestDirectory directory_;
};

TEST_F(RunSummaryTest, CollectsAllFiles) {
  const nlohmann::json run = SummariseRun(Write() / "");  // a slash at the end changes nothing
  EXPECT_EQ(run["name"], "run");
  EXPECT_EQ(run["path"], (directory_ / "run").string());
  EXPECT_EQ(run["title"], "DeltaNet on parity");
  EXPECT_EQ(run["layer_name"], "DeltaNet");
  EXPECT_EQ(run["range"], nlohmann::json({-1, 1}));
  EXPECT_EQ(run["train_lengths"], nlohmann::json({3, 40}));
  EXPECT_EQ(run["config"], SampleConfig({}));
  EXPECT_EQ(run["train"]["batch_size"], 256);
  EXPECT_EQ(run["train"]["seed"], 1);
  EXPECT_DOUBLE_EQ(run["train"]["tokens_per_second"].get<double>(), 3302400 / 40.6);
  EXPECT_EQ(run["train"]["hardware"]["threads"], 2);
  EXPECT_EQ(run["reference"]["scaled_accuracy"], 1.0);
  EXPECT_EQ(run["learning"]["train"].size(), 30u);
  EXPECT_EQ(run["learning"]["validation"].size(), 6u);
  EXPECT_EQ(run["by_length"]["scaled_accuracy"], 1.0);
  EXPECT_EQ(run["long"][0]["length"], 100000);
  EXPECT_EQ(run["spectrum"]["layers"].size(), 2u);
}

TEST_F(RunSummaryTest, ResultsMayBeMissing) {
  SampleRun sample;
  sample.state = "running";
  sample.has_metrics = sample.has_eval = sample.has_spectrum = false;
  const nlohmann::json run = SummariseRun(Write(sample));
  EXPECT_EQ(run["train"]["state"], "running");
  EXPECT_TRUE(run["chance"].is_null());
  EXPECT_TRUE(run["by_length"].is_null());
  EXPECT_TRUE(run["long"].empty());
  EXPECT_TRUE(run["spectrum"].is_null());
  EXPECT_TRUE(run["learning"]["train"].empty());
}

TEST_F(RunSummaryTest, LayersWithoutARangeAndHybrids) {
  const auto with = [this](const std::string& from, const std::string& to) {
    EXPECT_EQ(MessageWithConfig(from, to), "");
    return SummariseRun(directory_ / "run");
  };
  const std::string model = "layer = \"delta_net\"\neigenvalues = \"[-1,1]\"";
  const nlohmann::json slstm = with(model, "layer = \"slstm\"");
  EXPECT_EQ(slstm["layer_name"], "sLSTM");
  EXPECT_EQ(slstm["eigenvalues"], "");
  EXPECT_TRUE(slstm["range"].is_null());
  EXPECT_TRUE(with("\"[-1,1]\"", "\"[-inf,inf]\"")["range"].is_null());
  const nlohmann::json hybrid =
      with(model, "layers = [\"delta_net\", {layer = \"gla\", num_heads = 2}]\neigenvalues = \"[-1,1]\"");
  EXPECT_EQ(hybrid["layer"], "delta_net + gla");
  EXPECT_EQ(hybrid["layer_name"], "DeltaNet + GLA");
  EXPECT_EQ(MessageWithConfig(model, "layers = [3]"),
            R"(config.toml: field "model.layers": expected a list of layers, got [3])");
}

TEST_F(RunSummaryTest, ReferenceIsOptional) {
  const std::string config = SampleConfig({});
  WriteText(Write() / "config.toml", config.substr(0, config.find("[reference]")));
  EXPECT_TRUE(SummariseRun(directory_ / "run")["reference"].is_null());
}

TEST_F(RunSummaryTest, ErrorsOfTheConfig) {
  EXPECT_EQ(MessageWithConfig("title = ", "title = 3 # "),
            R"(config.toml: field "run.title": expected a string, got 3)");
  EXPECT_EQ(MessageWithConfig("[3, 40]", "[40, 3]"),
            R"(config.toml: field "task.train_lengths": expected two lengths [low, high], got [40,3])");
  EXPECT_EQ(MessageWithConfig("\"parity\"", "\"\""),
            R"(config.toml: field "task.name": expected the name of a task, got "")");
  EXPECT_EQ(MessageWithConfig("\"[-1,1]\"", "\"both\""),
            R"(config.toml: field "model.eigenvalues": expected a range such as "[-1,1]", got "both")");
  EXPECT_EQ(MessageWithConfig("batch_size = 256", "batch_size = 0"),
            R"(config.toml: field "train.batch_size": expected a positive integer, got 0)");
  EXPECT_EQ(MessageWithConfig("scaled_accuracy = 1.000", "scaled_accuracy = \"all\""),
            R"(config.toml: field "reference.scaled_accuracy": expected a number, got "all")");
  EXPECT_EQ(MessageWithConfig("[task]", "[tasks]"), R"(config.toml: field "task" is missing)");
  EXPECT_THAT(MessageWithConfig("name = \"parity\"", "name = parity"), testing::StartsWith("config.toml:5:"));
}

TEST_F(RunSummaryTest, ErrorsOfTraining) {
  EXPECT_EQ(MessageWithTrain("format", "other"), R"(train.json: field "format": expected "lrnn.train", got "other")");
  EXPECT_EQ(MessageWithTrain("state", "asleep"),
            R"(train.json: field "state": expected complete, running, interrupted or failed, got "asleep")");
  EXPECT_EQ(MessageWithTrain("parameters", nullptr), R"(train.json: field "parameters" is missing)");
  EXPECT_EQ(MessageWithTrain("seconds", -1),
            R"(train.json: field "seconds": expected a number that is not negative, got -1)");
  EXPECT_EQ(MessageWithTrain("hardware", {{"threads", 2}}), R"(train.json: field "hardware.cpu" is missing)");
}

TEST_F(RunSummaryTest, MissingAndBrokenFiles) {
  EXPECT_THAT(MessageOf([this] { SummariseRun(directory_ / "nowhere"); }),
              testing::StartsWith((directory_ / "nowhere").string()));
  std::filesystem::remove(Write() / "train.json");
  EXPECT_THAT(Message(), testing::StartsWith("train.json: "));
  WriteText(Write() / "train.json", "{\"format\": ");
  EXPECT_THAT(Message(), testing::StartsWith("train.json:1:"));
  std::filesystem::remove(Write() / "config.toml");
  EXPECT_THAT(MessageOf([this] { SummariseRun(directory_ / "run"); }), testing::HasSubstr("config.toml"));
}

}  // namespace
}  // namespace lrnn
