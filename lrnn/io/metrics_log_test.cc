#include "lrnn/io/metrics_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "lrnn/base/message_of.h"
#include "lrnn/io/atomic_file.h"
#include "lrnn/io/test_directory.h"

namespace lrnn {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::IsEmpty;

class MetricsLogTest : public testing::Test {
 protected:
  void Write(std::string_view text) { WriteFileAtomically(path_, text); }
  std::string Text() { return ReadFile(path_); }

  TestDirectory directory_;
  std::filesystem::path path_ = directory_ / "metrics.jsonl";
};

TEST_F(MetricsLogTest, AppendsWholeLinesAtOnce) {
  {
    MetricsLog log(path_);
    log.Append({{"step", 1}, {"loss", 0.5}});
    EXPECT_EQ(Text(), "{\"loss\":0.5,\"step\":1}\n");  // in the file before the log is closed
    log.Append({{"step", 2}, {"loss", std::nan("")}, {"note", "two\nlines"}});
  }
  MetricsLog(path_).Append({{"step", 3}});
  EXPECT_THAT(ReadMetrics(path_),
              ElementsAre(json{{"step", 1}, {"loss", 0.5}},
                          json{{"step", 2}, {"loss", nullptr}, {"note", "two\nlines"}}, json{{"step", 3}}));
}

TEST_F(MetricsLogTest, ToleratesATornLastLineAtEachByte) {
  const std::string whole = "{\"step\":1}\n{\"step\":2,\"loss\":0.25}\n";
  for (size_t size = 0; size <= whole.size(); ++size) {
    Write(whole.substr(0, size));
    const std::vector<json> lines = ReadMetrics(path_);
    EXPECT_EQ(lines.size(), (size >= 10) + (size >= whole.size() - 1)) << size;
    MetricsLog(path_).Append({{"step", 9}});
    std::vector<json> expected = lines;
    expected.push_back({{"step", 9}});
    EXPECT_EQ(ReadMetrics(path_), expected) << size;
  }
}

TEST_F(MetricsLogTest, CorruptLinesElsewhereAreErrors) {
  const std::string place = path_.string();
  Write("{\"step\":1}\n{\"step\n{\"step\":3}\n");
  EXPECT_EQ(MessageOf([&] { ReadMetrics(path_); }), place + ":2: expected one JSON object on a line, got {\"step");
  Write("{\"step\":1}\n\n");
  EXPECT_EQ(MessageOf([&] { ReadMetrics(path_); }), place + ":2: expected one JSON object on a line, got ");
  Write("[1]\n");
  EXPECT_EQ(MessageOf([&] { ReadMetrics(path_); }), place + ":1: expected one JSON object on a line, got [1]");
  Write(std::string(100, 'x') + "\n");
  EXPECT_EQ(MessageOf([&] { ReadMetrics(path_); }),
            place + ":1: expected one JSON object on a line, got " + std::string(60, 'x') + "...");
}

TEST_F(MetricsLogTest, TruncateAfterDropsLaterStepsAndGoesOn) {
  Write("{\"event\": \"start\"}\n{\"step\": 1}\n{\"step\":2}\n{\"event\":\"x\"}\n{\"step\":3}\n{\"st");
  MetricsLog log(path_);
  log.TruncateAfter(2);
  EXPECT_EQ(Text(), "{\"event\": \"start\"}\n{\"step\": 1}\n{\"step\":2}\n{\"event\":\"x\"}\n");
  log.Append({{"step", 3}});
  log.TruncateAfter(3);
  EXPECT_EQ(ReadMetrics(path_).size(), 5);
  log.TruncateAfter(-1);
  EXPECT_EQ(ReadMetrics(path_).size(), 2);
}

TEST_F(MetricsLogTest, Errors) {
  EXPECT_EQ(MessageOf([&] { ReadMetrics(path_); }), path_.string() + ": cannot open: No such file or directory");
  EXPECT_EQ(MessageOf([&] { MetricsLog(directory_ / "no/metrics.jsonl"); }),
            (directory_ / "no/metrics.jsonl").string() + ": cannot open: No such file or directory");
  EXPECT_EQ(MessageOf([&] {
              MetricsLog(path_).Append({1, 2});
            }),
            "[MetricsLog::Append] expected a JSON object, got array");
  EXPECT_THAT(ReadMetrics(path_), IsEmpty());
}

}  // namespace
}  // namespace lrnn
