#include "lrnn/tasks/task_info.h"

#include <gtest/gtest.h>

#include "lrnn/base/message_of.h"

namespace lrnn {
namespace {

TaskInfo Info() {
  return {"toy",
          "",
          {{"file", nullptr, "what to read"},
           {"size", 5, ""},
           {"share", 0.5, ""},
           {"loud", false, ""},
           {"mode", "slow", ""}},
          {}};
}

std::string MessageFor(const nlohmann::json& given) {
  return MessageOf([&] {
    const TaskParameters parameters(Info(), given);
    parameters.Int("size", 1, 10);
    parameters.Double("share", 0, 1);
    parameters.Choice("mode", {"slow", "fast"});
  });
}

TEST(TaskParameters, GivenOrDefault) {
  const TaskParameters parameters(Info(), {{"file", "x"}, {"size", 7}, {"share", 1}, {"loud", true}});
  EXPECT_EQ(parameters.String("file"), "x");
  EXPECT_EQ(parameters.Int("size", 1, 10), 7);
  EXPECT_EQ(parameters.Double("share", 0, 1), 1);
  EXPECT_TRUE(parameters.Bool("loud"));
  EXPECT_EQ(parameters.Choice("mode", {"slow", "fast"}), "slow");
}

TEST(TaskParameters, ErrorsNameTaskAndParameter) {
  EXPECT_EQ(MessageFor({{"file", "x"}}), "");
  EXPECT_EQ(MessageFor({{"fil", "x"}}),
            "task \"toy\": unknown parameter \"fil\" (known: file, size, share, loud, mode)");
  EXPECT_EQ(MessageFor(nlohmann::json::object()), "task \"toy\": parameter \"file\" is missing: what to read");
  EXPECT_EQ(MessageFor({{"file", 3}}), "task \"toy\": file: expected a string, got 3");
  EXPECT_EQ(MessageFor({{"file", "x"}, {"size", 2.5}}), "task \"toy\": size: expected an integer, got 2.5");
  EXPECT_EQ(MessageFor({{"file", "x"}, {"size", 11}}), "task \"toy\": size: expected an integer from 1 to 10, got 11");
  EXPECT_EQ(MessageFor({{"file", "x"}, {"size", UINT64_MAX}}),
            "task \"toy\": size: expected an integer from 1 to 10, got 18446744073709551615");
  EXPECT_EQ(MessageFor({{"file", "x"}, {"share", "half"}}), "task \"toy\": share: expected a number, got \"half\"");
  EXPECT_EQ(MessageFor({{"file", "x"}, {"share", 2}}), "task \"toy\": share: expected a number from 0 to 1, got 2");
  EXPECT_EQ(MessageFor({{"file", "x"}, {"loud", 1}}), "task \"toy\": loud: expected true or false, got 1");
  EXPECT_EQ(MessageFor({{"file", "x"}, {"mode", "odd"}}),
            "task \"toy\": mode: expected \"slow\" or \"fast\", got \"odd\"");
  EXPECT_EQ(MessageFor(3), "task \"toy\": expected its parameters as an object, got 3");
  EXPECT_EQ(MessageOf([] {
              TaskParameters({"toy", "", {}, {}}, {{"a", 1}});
            }),
            "task \"toy\": unknown parameter \"a\" (it takes none)");
}

TEST(TaskInfo, ParsesTextByTheParametersType) {
  EXPECT_EQ(Info().Parse("file", "12"), "12");
  EXPECT_EQ(Info().Parse("mode", "true"), "true");
  EXPECT_EQ(Info().Parse("size", "12"), 12);
  EXPECT_EQ(Info().Parse("loud", "true"), true);
  EXPECT_EQ(Info().Parse("size", "twelve"), "twelve") << "TaskParameters refuses it";
  EXPECT_EQ(MessageOf([] { Info().Parse("sise", "1"); }),
            "task \"toy\": unknown parameter \"sise\" (known: file, size, share, loud, mode)");
  EXPECT_TRUE(Info().NeedsParameters());
  EXPECT_FALSE(TaskInfo().NeedsParameters());
}

}  // namespace
}  // namespace lrnn
