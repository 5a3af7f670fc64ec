#include "lrnn/io/run_directory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lrnn/base/message_of.h"
#include "lrnn/io/atomic_file.h"
#include "lrnn/io/test_directory.h"

namespace lrnn {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;

std::vector<int64_t> Steps(const RunDirectory& run) {
  std::vector<int64_t> steps;
  for (const Checkpoint& checkpoint : run.Checkpoints()) steps.push_back(checkpoint.step);
  return steps;
}

// Writes one file that holds `text`.
auto Fill(const std::string& text) {
  return [text](const fs::path& directory) { WriteFileAtomically(directory / "state", text); };
}

class RunDirectoryTest : public testing::Test {
 protected:
  TestDirectory directory_;
  fs::path path_ = directory_ / "runs/parity";
};

TEST_F(RunDirectoryTest, CreateThenOpen) {
  const RunDirectory run = RunDirectory::Create(path_, "steps = 10\n");
  EXPECT_EQ(ReadFile(RunDirectory::Open(path_).config_path()), "steps = 10\n");
  EXPECT_TRUE(RunDirectory::IsRun(path_));
  EXPECT_EQ(run.metrics_path(), path_ / "metrics.jsonl");
  EXPECT_EQ(run.checkpoint_path(200), path_ / "checkpoints/step-00000200");
  EXPECT_THAT(run.Checkpoints(), IsEmpty());
}

TEST_F(RunDirectoryTest, CreateTakesAnEmptyDirectoryOnly) {
  fs::create_directories(path_);
  RunDirectory::Create(path_, "");
  EXPECT_EQ(
      MessageOf([&] { RunDirectory::Create(path_, ""); }),
      path_.string() + ": the directory is not empty; continue its run with --resume or choose another one with --out");
  WriteFileAtomically(directory_ / "file", "");
  EXPECT_EQ(MessageOf([&] { RunDirectory::Create(directory_ / "file", ""); }),
            (directory_ / "file").string() + ": expected a directory for the run, got a file");
  EXPECT_THAT(MessageOf([&] { RunDirectory::Create(directory_ / "file/run", ""); }),
              testing::HasSubstr("cannot create: Not a directory"));
}

TEST_F(RunDirectoryTest, OpenSaysWhatIsMissing) {
  EXPECT_EQ(MessageOf([&] { RunDirectory::Open(path_); }),
            path_.string() + ": expected a run directory, got nothing of that name");
  fs::create_directories(path_);
  EXPECT_FALSE(RunDirectory::IsRun(path_));
  EXPECT_EQ(MessageOf([&] { RunDirectory::Open(path_); }),
            path_.string() + ": not a run directory: config.toml is missing");
  WriteFileAtomically(path_ / "file", "");
  EXPECT_EQ(MessageOf([&] { RunDirectory::Open(path_ / "file"); }),
            (path_ / "file").string() + ": expected a run directory, got a file");
}

TEST_F(RunDirectoryTest, KeepsTheNewestCheckpoints) {
  const RunDirectory run = RunDirectory::Create(path_, "");
  EXPECT_EQ(MessageOf([&] { run.LatestCheckpoint(); }), path_.string() + ": the run has no checkpoint yet");
  for (int64_t step : {5, 100, 99'999'999, 100'000'000}) run.WriteCheckpoint(step, Fill(std::to_string(step)), 3);
  EXPECT_THAT(Steps(run), ElementsAre(100, 99'999'999, 100'000'000));
  run.WriteCheckpoint(100'000'001, Fill("last"));
  EXPECT_THAT(Steps(run), ElementsAre(100'000'000, 100'000'001));
  EXPECT_EQ(ReadFile(run.LatestCheckpoint().path / "state"), "last");
}

TEST_F(RunDirectoryTest, WritesACheckpointAgain) {
  const RunDirectory run = RunDirectory::Create(path_, "");
  run.WriteCheckpoint(5, Fill("old"));
  run.WriteCheckpoint(5, Fill("new"));
  EXPECT_THAT(Steps(run), ElementsAre(5));
  EXPECT_EQ(ReadFile(run.LatestCheckpoint().path / "state"), "new");
}

TEST_F(RunDirectoryTest, AFailureWhileWritingChangesNothing) {
  const RunDirectory run = RunDirectory::Create(path_, "");
  run.WriteCheckpoint(1, Fill("1"), 1);
  const auto fails = [](const fs::path& directory) {
    Fill("half")(directory);
    throw Failure("disk full");
  };
  EXPECT_THROW(run.WriteCheckpoint(2, fails, 1), Failure);
  EXPECT_THAT(Steps(run), ElementsAre(1));
  EXPECT_EQ(std::distance(fs::directory_iterator(run.checkpoints_path()), {}), 1);
  EXPECT_EQ(MessageOf([&] { run.WriteCheckpoint(-1, Fill("")); }), "[WriteCheckpoint] expected step >= 0, got -1");
  EXPECT_EQ(MessageOf([&] { run.WriteCheckpoint(1, Fill(""), 0); }), "[WriteCheckpoint] expected keep >= 1, got 0");
}

TEST_F(RunDirectoryTest, LeftoversOfACrashAreIgnoredAndRemoved) {
  const RunDirectory run = RunDirectory::Create(path_, "");
  run.WriteCheckpoint(7, Fill("7"));
  // What a kill during WriteCheckpoint and WriteJson leaves behind, and a directory of somebody else.
  fs::create_directories(run.checkpoints_path() / ".step-00000008.tmp-123-0/inner");
  WriteFileAtomically(path_ / ".eval.json.tmp-123-1", "{");
  fs::create_directories(run.checkpoints_path() / "step-best");
  EXPECT_THAT(Steps(run), ElementsAre(7));
  run.RemoveLeftovers();
  EXPECT_FALSE(fs::exists(run.checkpoints_path() / ".step-00000008.tmp-123-0"));
  EXPECT_FALSE(fs::exists(path_ / ".eval.json.tmp-123-1"));
  EXPECT_TRUE(fs::exists(run.checkpoints_path() / "step-best"));
  EXPECT_THAT(Steps(run), ElementsAre(7));
}

}  // namespace
}  // namespace lrnn
