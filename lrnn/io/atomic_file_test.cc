#include "lrnn/io/atomic_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <vector>

#include "lrnn/base/message_of.h"
#include "lrnn/io/test_directory.h"

namespace lrnn {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> NamesIn(const fs::path& directory) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(directory)) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

TEST(AtomicFile, ReplacesOnlyOnCommit) {
  TestDirectory directory;
  WriteFileAtomically(directory / "a", "old");
  {
    AtomicFile file(directory / "a");
    file.Write("ne");
    file.Write(std::string_view("w\0!", 3));
    EXPECT_EQ(ReadFile(directory / "a"), "old");
    file.Commit();
  }
  EXPECT_EQ(ReadFile(directory / "a"), std::string("new\0!", 5));
  EXPECT_THAT(NamesIn(directory.path()), ElementsAre("a"));
}

TEST(AtomicFile, WithoutCommitNothingChanges) {
  TestDirectory directory;
  WriteFileAtomically(directory / "a", "old");
  {
    AtomicFile file(directory / "a");
    file.Write("new");
    const std::vector<std::string> names = NamesIn(directory.path());
    ASSERT_EQ(names.size(), 2);
    EXPECT_TRUE(IsTemporaryName(names[0]));
    EXPECT_FALSE(IsTemporaryName(names[1]));
  }
  EXPECT_EQ(ReadFile(directory / "a"), "old");
  EXPECT_THAT(NamesIn(directory.path()), ElementsAre("a"));
}

TEST(AtomicFile, ObeysTheUmask) {
  TestDirectory directory;
  const mode_t before = umask(027);
  WriteFileAtomically(directory / "a", "");
  umask(before);
  EXPECT_EQ(fs::status(directory / "a").permissions(), fs::perms(0640));
}

TEST(AtomicFile, FailuresNamePathAndReason) {
  TestDirectory directory;
  const std::string missing = (directory / "no" / "a").string();
  EXPECT_THROW(WriteFileAtomically(missing, "x"), Failure);
  EXPECT_EQ(MessageOf([&] { WriteFileAtomically(missing, "x"); }),
            missing + ": cannot create: No such file or directory");
  fs::create_directory(directory / "d");
  EXPECT_EQ(MessageOf([&] { WriteFileAtomically(directory / "d", "x"); }),
            (directory / "d").string() + ": cannot replace: Is a directory");
  EXPECT_THAT(NamesIn(directory.path()), ElementsAre("d"));
}

TEST(AtomicFile, AFullDiskLeavesTheOldVersion) {
  TestDirectory directory;
  WriteFileAtomically(directory / "a", "old");
  rlimit before;
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit small{1000, before.rlim_max};
  std::signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &small);
  const std::string message = MessageOf([&] { WriteFileAtomically(directory / "a", std::string(5000, 'x')); });
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_EQ(message, (directory / "a").string() + ": cannot write: File too large");
  EXPECT_EQ(ReadFile(directory / "a"), "old");
  EXPECT_THAT(NamesIn(directory.path()), ElementsAre("a"));
}

TEST(ReadFile, ErrorsNameThePath) {
  TestDirectory directory;
  EXPECT_EQ(MessageOf([&] { ReadFile(directory / "a"); }),
            (directory / "a").string() + ": cannot open: No such file or directory");
  EXPECT_EQ(MessageOf([&] { ReadFile(directory.path()); }),
            directory.path().string() + ": cannot read: Is a directory");
}

TEST(ReadFile, LargerThanItsBuffer) {
  TestDirectory directory;
  std::string bytes(300'001, 'x');
  bytes.back() = 'y';
  WriteFileAtomically(directory / "a", bytes);
  EXPECT_EQ(ReadFile(directory / "a"), bytes);
}

TEST(AtomicDirectory, AppearsWhole) {
  TestDirectory directory;
  {
    AtomicDirectory atomic(directory / "step/");  // the slash means nothing
    std::ofstream(atomic.path() / "a") << "1";
    fs::create_directory(atomic.path() / "inner");
    std::ofstream(atomic.path() / "inner" / "b") << "2";
    EXPECT_FALSE(fs::exists(directory / "step"));
    EXPECT_TRUE(IsTemporaryName(atomic.path()));
    atomic.Commit();
  }
  EXPECT_THAT(NamesIn(directory.path()), ElementsAre("step"));
  EXPECT_THAT(NamesIn(directory / "step"), ElementsAre("a", "inner"));
  EXPECT_EQ(ReadFile(directory / "step" / "inner" / "b"), "2");
}

TEST(AtomicDirectory, TakesThePlaceOfAnOldOne) {
  TestDirectory directory;
  for (const char* name : {"old", "new"}) {
    AtomicDirectory atomic(directory / "step");
    std::ofstream(atomic.path() / name) << name;
    atomic.Commit();
  }
  EXPECT_THAT(NamesIn(directory.path()), ElementsAre("step"));
  EXPECT_THAT(NamesIn(directory / "step"), ElementsAre("new"));
}

TEST(AtomicDirectory, WithoutCommitNothingStays) {
  TestDirectory directory;
  {
    AtomicDirectory atomic(directory / "step");
    std::ofstream(atomic.path() / "a") << "1";
  }
  EXPECT_THAT(NamesIn(directory.path()), IsEmpty());
}

TEST(AtomicDirectory, FailuresNamePathAndReason) {
  TestDirectory directory;
  WriteFileAtomically(directory / "file", "");
  const auto make = [](const fs::path& path) { AtomicDirectory(path).Commit(); };
  EXPECT_EQ(MessageOf([&] { make(directory / "file"); }),
            (directory / "file").string() + ": cannot create: Not a directory");
  const std::string missing = (directory / "no" / "a").string();
  EXPECT_EQ(MessageOf([&] { make(missing); }), missing + ": cannot create: No such file or directory");
  EXPECT_THAT(NamesIn(directory.path()), ElementsAre("file"));
}

TEST(RemoveDirectoryAtomically, RemovesAndReports) {
  TestDirectory directory;
  fs::create_directories(directory / "a" / "b");
  RemoveDirectoryAtomically(directory / "a");
  EXPECT_THAT(NamesIn(directory.path()), IsEmpty());
  EXPECT_EQ(MessageOf([&] { RemoveDirectoryAtomically(directory / "a"); }),
            (directory / "a").string() + ": cannot remove: No such file or directory");
}

TEST(SyncDirectory, FailureNamesThePath) {
  TestDirectory directory;
  SyncDirectory(directory.path());
  EXPECT_EQ(MessageOf([&] { SyncDirectory(directory / "a"); }),
            (directory / "a").string() + ": cannot open: No such file or directory");
}

}  // namespace
}  // namespace lrnn
