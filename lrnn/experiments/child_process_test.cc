#include "lrnn/experiments/child_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include "lrnn/base/message_of.h"
#include "lrnn/io/atomic_file.h"
#include "lrnn/io/test_directory.h"

namespace lrnn {
namespace {

int Wait(ChildProcess& child) {
  for (int i = 0; i < 1000; ++i) {
    if (const auto code = child.Poll()) return *code;
    usleep(5000);
  }
  return -1;
}

TEST(ChildProcess, OutputIsAppendedToTheLog) {
  const TestDirectory directory;
  for (const char* word : {"one", "two"}) {
    ChildProcess child({"/bin/sh", "-c", std::string("echo ") + word + "; echo err >&2"}, directory / "log");
    EXPECT_EQ(Wait(child), 0);
  }
  EXPECT_EQ(ReadFile(directory / "log"), "one\nerr\ntwo\nerr\n");
}

TEST(ChildProcess, ExitCodesAndSignals) {
  const TestDirectory directory;
  ChildProcess failing({"/bin/sh", "-c", "exit 3"}, directory / "log");
  EXPECT_EQ(Wait(failing), 3);
  EXPECT_EQ(failing.Poll(), 3);
  ChildProcess sleeping({"/bin/sleep", "60"}, directory / "log");
  EXPECT_EQ(sleeping.Poll(), std::nullopt);
  sleeping.Signal(SIGTERM);
  EXPECT_EQ(Wait(sleeping), 128 + SIGTERM);
}

TEST(ChildProcess, IsKilledWithItsOwner) {
  const TestDirectory directory;
  {
    ChildProcess child({"/bin/sh", "-c", "echo $$; exec sleep 60"}, directory / "log");
    for (int i = 0; i < 1000 && ReadFile(directory / "log").empty(); ++i) usleep(5000);
  }
  const pid_t pid = std::stoi(ReadFile(directory / "log"));
  EXPECT_NE(kill(pid, 0), 0);
}

TEST(ChildProcess, SaysWhatCannotBeStarted) {
  const TestDirectory directory;
  EXPECT_EQ(MessageOf([&] { ChildProcess({"/nowhere/program"}, directory / "log"); }),
            "/nowhere/program: cannot be started: No such file or directory");
  EXPECT_THAT(MessageOf([&] { ChildProcess({"/bin/true"}, directory / "nowhere/log"); }),
              testing::HasSubstr("nowhere/log: No such file or directory"));
}

}  // namespace
}  // namespace lrnn
