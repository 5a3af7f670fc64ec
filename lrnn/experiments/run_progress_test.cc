#include "lrnn/experiments/run_progress.h"

#include <gtest/gtest.h>

#include <cmath>

#include "lrnn/io/atomic_file.h"
#include "lrnn/io/test_directory.h"

namespace lrnn {
namespace {

TEST(RunProgress, TheLastTrainingLineCounts) {
  const TestDirectory directory;
  WriteFileAtomically(directory / "metrics.jsonl",
                      "{\"kind\": \"train\", \"step\": 10, \"loss\": 0.5, \"seconds\": 1.5}\n"
                      "{\"kind\": \"train\", \"step\": 20, \"loss\": null, \"seconds\": 3}\n"
                      "{\"kind\": \"eval\", \"step\": 20, \"loss\": 0.1}\n"
                      "{\"kind\": \"train\", \"st");
  const RunProgress progress = ReadRunProgress(directory / "metrics.jsonl");
  EXPECT_EQ(progress.step, 20);
  EXPECT_EQ(progress.seconds, 3);
  EXPECT_TRUE(std::isnan(progress.loss));
}

TEST(RunProgress, OfLongFilesOnlyTheEndIsRead) {
  const TestDirectory directory;
  std::string lines;
  for (int step = 1; step <= 1000; ++step) {
    lines += "{\"kind\": \"train\", \"step\": " + std::to_string(step) + ", \"loss\": 1, \"seconds\": 1}\n";
  }
  WriteFileAtomically(directory / "metrics.jsonl", lines);
  EXPECT_EQ(ReadRunProgress(directory / "metrics.jsonl").step, 1000);
}

TEST(RunProgress, NothingYet) {
  const TestDirectory directory;
  EXPECT_EQ(ReadRunProgress(directory / "nowhere").step, 0);
  EXPECT_EQ(LastLine(directory / "nowhere"), "");
}

TEST(RunProgress, LastLineOfALog) {
  const TestDirectory directory;
  WriteFileAtomically(directory / "log", "start\nlrnn: the loss is nan\n\n");
  EXPECT_EQ(LastLine(directory / "log"), "lrnn: the loss is nan");
}

}  // namespace
}  // namespace lrnn
