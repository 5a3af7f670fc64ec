#include "lrnn/report/report.h"

#include <gtest/gtest.h>

#include <string>

#include "lrnn/base/message_of.h"
#include "lrnn/io/json_file.h"
#include "lrnn/io/test_directory.h"
#include "lrnn/report/sample_runs.h"

namespace lrnn {
namespace {

std::vector<std::string> Labels(const nlohmann::json& report) {
  std::vector<std::string> labels;
  for (const nlohmann::json& run : report["runs"]) labels.push_back(run["label"]);
  return labels;
}

TEST(Report, CollectsRunsInTheirOrder) {
  const TestDirectory directory;
  const nlohmann::json report = BuildReport(WriteSampleRuns(directory.path()));
  EXPECT_EQ(report["format"], "lrnn.report");
  EXPECT_EQ(report["version"], 1);
  EXPECT_EQ(report["title"], "Parity with eigenvalues in [0, 1] and [-1, 1]");
  EXPECT_EQ(
      report["summary"],
      "Mamba and DeltaNet were trained on parity with sequences of 3 to 40 tokens, with the eigenvalues of their state "
      "transitions in [0, 1] and [-1, 1], and tested on sequences of 40 to 256 and of 100,000 tokens.");
  EXPECT_EQ(report["chance"], 0.5);
  EXPECT_EQ(report["lrnn_version"], "0.1.0");
  EXPECT_EQ(Labels(report),
            (std::vector<std::string>{"Mamba [0,1]", "Mamba [-1,1]", "DeltaNet [0,1]", "DeltaNet [-1,1]"}));
}

TEST(Report, SaysWhenNothingWasTested) {
  const TestDirectory directory;
  SampleRun sample;
  sample.has_eval = false;
  const nlohmann::json report = BuildReport({WriteSampleRun(directory / "a", sample)});
  EXPECT_EQ(report["title"], "Parity with eigenvalues in [-1, 1]");
  EXPECT_EQ(report["summary"],
            "DeltaNet was trained on parity with sequences of 3 to 40 tokens, with the eigenvalues of its state "
            "transitions in "
            "[-1, 1], and not tested yet.");
  EXPECT_TRUE(report["chance"].is_null());
}

TEST(Report, LabelsAreUnique) {
  const TestDirectory directory;
  SampleRun one, two;
  two.seed = 2;
  const std::vector<std::filesystem::path> runs = {
      WriteSampleRun(directory / "a", one), WriteSampleRun(directory / "b", two), WriteSampleRun(directory / "c", two)};
  EXPECT_EQ(Labels(BuildReport(runs)),
            (std::vector<std::string>{"DeltaNet [-1,1], seed 1", "DeltaNet [-1,1], seed 2 (" + runs[1].string() + ")",
                                      "DeltaNet [-1,1], seed 2 (" + runs[2].string() + ")"}));
}

TEST(Report, CommandsMakeTheReportAgain) {
  const TestDirectory directory;
  SampleRun sample;
  const std::string run = WriteSampleRun(directory / "my run's", sample).string();
  sample.has_eval = sample.has_spectrum = false;
  const std::string bare = WriteSampleRun(directory / "bare", sample).string();
  const std::string quoted = "'" + directory.path().string() + "/my run'\\''s'";
  EXPECT_EQ(
      BuildReport({run, bare})["commands"],
      nlohmann::json({"lrnn train 'my run'\\''s.toml' --out " + quoted, "lrnn eval " + quoted + " --lengths 40:256",
                      "lrnn eval " + quoted + " --lengths 100000:100000", "lrnn analyze " + quoted + " --spectrum", "",
                      "lrnn train bare.toml --out " + bare, "",
                      "lrnn report \\\n  " + quoted + " \\\n  " + bare + " \\\n  -o report.html"}));
}

TEST(Report, Errors) {
  EXPECT_EQ(MessageOf([] { BuildReport({}); }), "[BuildReport] expected at least one run, got none");
  const TestDirectory directory;
  const std::filesystem::path one = WriteSampleRun(directory / "one", {});
  SampleRun bare;
  bare.has_eval = bare.has_spectrum = false;
  const std::filesystem::path two = WriteSampleRun(directory / "two", bare);
  std::string config = SampleConfig(bare);
  WriteText(two / "config.toml", config.replace(config.find("\"parity\""), 8, "\"even_pairs\""));
  EXPECT_EQ(
      MessageOf([&] {
        BuildReport({one, two});
      }),
      two.string() + ": a report is about one task: this run is of \"even_pairs\", " + one.string() + " of \"parity\"");

  const std::filesystem::path three = WriteSampleRun(directory / "three", {});
  nlohmann::json eval = ReadJson(three / "eval.json");
  eval["chance"] = 0.25;
  WriteJson(three / "eval.json", eval);
  EXPECT_EQ(MessageOf([&] {
              BuildReport({one, three});
            }),
            three.string() + "/eval.json: field \"chance\": expected 0.5 as in " + one.string() + ", got 0.25");
}

}  // namespace
}  // namespace lrnn
